// Targets: the places that `braid backup` writes to. A directory holds several backups, each complete by itself:
//
//   TARGET/lock                       one backup is written at a time
//   TARGET/backup-000007/BACKUP       the list of its files with their checksums (format.h)
//   TARGET/backup-000007/000123.sst   a table, hard-linked to the same table of the backup before, if that had it
//   TARGET/incomplete-…               one that is being written or removed; the next backup removes what is left of it
//
// A file TARGET.tar is one backup, the list at its end.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/backup/format.h"

namespace braid::backup {

struct ReachedStore;

/// A backup of a target directory.
struct FoundBackup {
  int64_t id = 0;
  std::filesystem::path path;
  Result<BackupList> list = Status(Code::kInternalError, "not read");
};
/// Oldest first; those whose list is damaged too. None if there is no such directory.
Result<std::vector<FoundBackup>> FindBackups(const std::filesystem::path& target);

/// True for names that end with .tar: the target is one file.
bool IsArchive(const std::filesystem::path& target);

struct TargetOptions {
  /// Reads the tables of earlier backups before they are shared: damaged ones are not used again.
  bool check_known = false;
};

/// Takes the files of one backup, one after another. Unless Finish() was OK, everything is removed again.
class Target {
 public:
  /// A directory is made if there is none, and locked: kConflictingOperationInProgress if another backup is being
  /// written there. An archive must not exist.
  static Result<std::unique_ptr<Target>> Open(const std::filesystem::path& target, const TargetOptions& options = {});
  virtual ~Target() = default;

  /// kIllegalOperation if the directory has backups of another store, which --keep would remove.
  virtual Status CheckStore(const std::string& identity) const = 0;
  /// Tables that need not be sent again.
  virtual std::vector<BackupFile> Known() const = 0;
  virtual Status StartFile(const BackupFile& file) = 0;
  virtual Status Write(std::string_view bytes) = 0;
  virtual Status EndFile() = 0;
  /// One of Known(), as it is there; gives its hash.
  virtual Result<uint64_t> TakeKnown(const BackupFile& file) = 0;
  /// Everything is on the disk, under its name. Gives the name.
  virtual Result<std::filesystem::path> Finish(const BackupList& list) = 0;
  /// Tables of earlier backups that were found damaged.
  virtual std::vector<std::filesystem::path> damaged() const = 0;
  /// The number of the backup in a directory; 0 for an archive.
  virtual int64_t id() const = 0;
  /// Removes all but the newest `count` backups; returns how many were removed. After Finish().
  virtual Result<size_t> Keep(size_t count) = 0;
};

Result<std::unique_ptr<Target>> OpenDirectoryTarget(const std::filesystem::path& directory,
                                                    const TargetOptions& options);
Result<std::unique_ptr<Target>> OpenArchiveTarget(const std::filesystem::path& file);

/// Of a backup that is being received. Any thread may read them meanwhile.
struct BackupFigures {
  std::atomic<uint64_t> bytes_total{0};
  std::atomic<uint64_t> bytes_done{0};    // copied or shared
  std::atomic<uint64_t> bytes_copied{0};  // of these
  std::atomic<uint64_t> files_copied{0};
  std::atomic<uint64_t> files_shared{0};
};

/// Receives a backup, the server's stream of files (engine/commands/admin/backup.cc), into a target. Everything but the
/// end: the target is to be finished with the list. kInterrupted once the flag is set.
Result<BackupList> ReceiveBackup(const ReachedStore& store, Target& target, const std::atomic<bool>& stop,
                                 BackupFigures& figures);

}  // namespace braid::backup
