// Outputs from files and standard input.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cli/files_read.h"
#include "cli/settlement/summary.h"
#include "services/settlement/migration/state.h"

namespace braid::cli::settlement {

/// Submits every line of every file, and waits for the answers. Ends early when `stop` becomes true, even while the
/// store does not answer (its writers are ended then), when the store has failed for good and when a migration begins.
Status IngestFiles(braid::settlement::Settlement& settlement, const std::vector<std::string>& files,
                   braid::settlement::migration::MigrationWatch& watch, const std::atomic<bool>& stop, FilesRead& read,
                   Summary& summary);

}  // namespace braid::cli::settlement
