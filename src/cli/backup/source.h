// Sources: backups as `braid restore` and `braid verify` read them.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/backup/files.h"
#include "cli/backup/format.h"

namespace braid::backup {

/// The backup that `source` names: an archive, a backup's own directory, or the one with this number of a target
/// directory; the newest without a number. kNamespaceNotFound if there is none.
Result<std::filesystem::path> ChooseBackup(const std::filesystem::path& source, std::optional<int64_t> id);

struct ReadBackup {
  BackupList list;
  /// Files that are missing, damaged or not part of the backup; empty if everything is as it was written.
  std::vector<std::string> damage;
};

/// Called with the files as they are read; either function may be empty.
struct BackupVisitor {
  std::function<Status(const std::string& name)> start;
  OnBytes bytes;
  std::function<Status()> end;
  std::atomic<uint64_t>* bytes_read = nullptr;
};

/// Reads every byte and compares it with the list. The visitor gets every file, sound or not.
Result<ReadBackup> ReadWhole(const std::filesystem::path& backup, const BackupVisitor& visitor);

}  // namespace braid::backup
