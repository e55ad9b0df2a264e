// Stray keys: finds keys of the store that belong to nothing. The part of `braid verify` besides the documents and
// entries of collections (validate.h).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/txn/context.h"

namespace braid::txn {

struct StrayKeysReport {
  uint64_t keys = 0;                // that were read
  std::vector<std::string> errors;  // at most kErrorsMax of them; empty: no errors
  static constexpr size_t kErrorsMax = 20;
};

/// The numbers of every collection and index that the catalogue knows at this moment.
std::set<uint32_t> NumbersInUse(const catalog::Catalog& catalog);

/// Reads what the context's snapshot has beside documents and entries with these numbers: descriptions, databases,
/// sessions and figures are well-formed, and there are no documents or entries with other numbers.
Result<StrayKeysReport> CheckStrayKeys(Context& context, const std::set<uint32_t>& numbers);

}  // namespace braid::txn
