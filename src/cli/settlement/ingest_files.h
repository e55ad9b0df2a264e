// Outputs from files and standard input.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cli/settlement/summary.h"

namespace braid::cli::settlement {

/// Submits every line of every file, and waits for the answers. Ends early when `stop` becomes true, even while the
/// store does not answer (its writers are ended then), and when the store has failed for good.
Status IngestFiles(braid::settlement::Settlement& settlement, const std::vector<std::string>& files,
                   const std::atomic<bool>& stop, Summary& summary);

}  // namespace braid::cli::settlement
