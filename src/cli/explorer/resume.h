// Where a stopped import continues: how many of its epochs have led to the present chain.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "services/explorer/explorer.h"

namespace braid::cli::explorer {

/// The first epochs of some files.
struct EpochsBefore {
  int64_t epochs = 0;
  int64_t blocks = 0;
  int64_t transactions = 0;
};

/// Epochs that lead from the first one of the files to the tip, by every switch of the pivot on the way. Importing them
/// again would pop the chain and grow it again, or fail where a switch is older than the history, only to end at the
/// same tip. None if the tip is not in the files, if an epoch on the way does not fit to those before it, or for
/// standard input and pipes, which can be read once only. The last time that the files lead to the tip counts.
Result<EpochsBefore> EpochsThatLedTo(braid::explorer::Explorer& explorer, const braid::explorer::At& tip,
                                     const std::vector<std::string>& files, const std::atomic<bool>& stop);

}  // namespace braid::cli::explorer
