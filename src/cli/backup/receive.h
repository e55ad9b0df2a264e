// Receiving a backup: the server's stream of files (engine/commands/admin/backup.cc) into a target.
#pragma once

#include <atomic>

#include "cli/backup/list.h"
#include "cli/backup/reach.h"
#include "cli/backup/target.h"

namespace braid::backup {

/// Any thread may read them meanwhile.
struct BackupFigures {
  std::atomic<uint64_t> bytes_total{0};
  std::atomic<uint64_t> bytes_done{0};    // copied or shared
  std::atomic<uint64_t> bytes_copied{0};  // of these
  std::atomic<uint64_t> files_copied{0};
  std::atomic<uint64_t> files_shared{0};
};

/// Everything but the end: the target is to be finished with the list. kInterrupted once the flag is set.
Result<BackupList> ReceiveBackup(const ReachedStore& store, Target& target, const std::atomic<bool>& stop,
                                 BackupFigures& figures);

}  // namespace braid::backup
