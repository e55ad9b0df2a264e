// A directory with several backups that share the tables that did not change between them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "base/strings.h"
#include "cli/backup/files.h"
#include "cli/backup/target.h"
#include "engine/storage/directory.h"

namespace braid::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIncompletePrefix = "incomplete-";

std::string BackupName(int64_t id) { return fmt::format("backup-{:06}", id); }

/// flock(2) of a file, for as long as the object is there.
class TargetLock {
 public:
  explicit TargetLock(int descriptor) : descriptor_(descriptor) {}
  ~TargetLock() { close(descriptor_); }
  TargetLock(const TargetLock&) = delete;
  TargetLock& operator=(const TargetLock&) = delete;

  static Result<std::unique_ptr<TargetLock>> Take(const fs::path& directory) {
    const fs::path path = directory / "lock";
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return FileError(StrCat("create ", path.string()), errno);
    auto lock = std::make_unique<TargetLock>(descriptor);
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
    return Status(Code::kConflictingOperationInProgress,
                  StrCat("another backup is being written to ", directory.string(), "; try again when it has ended"));
  }

 private:
  const int descriptor_;
};

class DirectoryTarget final : public Target {
 public:
  DirectoryTarget(fs::path directory, std::unique_ptr<TargetLock> lock, std::vector<FoundBackup> found)
      : directory_(std::move(directory)),
        lock_(std::move(lock)),
        id_(found.empty() ? 1 : found.back().id + 1),
        incomplete_(directory_ / StrCat(kIncompletePrefix, id_)) {
    for (const FoundBackup& backup : found) {
      if (!backup.list.ok()) continue;
      NoteKnown(backup);
      store_ = backup.list->store;
    }
  }
  ~DirectoryTarget() override {
    std::error_code ignored;
    if (!finished_) fs::remove_all(incomplete_, ignored);
  }

  /// Removes what a killed process left, and creates the directory of the new backup.
  Status Prepare() {
    std::error_code error;
    std::vector<fs::path> left;
    for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().filename().string().starts_with(kIncompletePrefix)) left.push_back(entry->path());
    }
    for (const fs::path& path : left) fs::remove_all(path, error);
    if (!error) fs::create_directory(incomplete_, error);
    return error ? FileError(StrCat("create ", incomplete_.string()), error.value()) : Status();
  }

  /// Keeps only those tables whose bytes are as they were written.
  Status CheckKnown() {
    for (auto known = known_.begin(); known != known_.end();) {
      Hasher hasher;
      BRAID_CHECK_OK(ReadParts(known->second.path, [&hasher](std::string_view bytes) {
        hasher.Add(bytes);
        return Status();
      }));
      if (hasher.hash() == known->second.file.hash) {
        ++known;
        continue;
      }
      damaged_.push_back(known->second.path);
      known = known_.erase(known);
    }
    return {};
  }

  Status CheckStore(const std::string& identity) const override {
    if (store_.empty() || store_ == identity) return {};
    return {Code::kIllegalOperation, StrCat(directory_.string(), " has backups of another store (", store_,
                                            "): choose another directory for those of ", identity)};
  }

  std::vector<BackupFile> Known() const override {
    std::vector<BackupFile> tables;
    tables.reserve(known_.size());
    for (const auto& [name, table] : known_) tables.push_back(table.file);
    return tables;
  }

  Status StartFile(const BackupFile& file) override {
    BRAID_TRY(OutputFile created, OutputFile::Create(incomplete_ / file.name));
    output_.emplace(std::move(created));
    return {};
  }
  Status Write(std::string_view bytes) override { return output_->Write(bytes); }
  Status EndFile() override { return output_->Finish(); }

  // A file may have too many links, and some file systems do not support links: then it is copied.
  Result<uint64_t> TakeKnown(const BackupFile& file) override {
    const auto known = known_.find(file.name);
    if (known == known_.end()) return Status(Code::kProtocolError, StrCat("no earlier backup has ", file.name));
    if (link(known->second.path.c_str(), (incomplete_ / file.name).c_str()) != 0) {
      BRAID_CHECK_OK(StartFile(file));
      BRAID_CHECK_OK(ReadParts(known->second.path, [this](std::string_view bytes) { return Write(bytes); }));
      BRAID_CHECK_OK(EndFile());
    }
    return known->second.file.hash;
  }

  Result<fs::path> Finish(const BackupList& list) override {
    BRAID_TRY(OutputFile output, OutputFile::Create(incomplete_ / kListName));
    BRAID_CHECK_OK(output.Write(list.ToText()));
    BRAID_CHECK_OK(output.Finish());
    BRAID_CHECK_OK(SyncDirectory(incomplete_));
    fs::path path = directory_ / BackupName(id_);
    BRAID_CHECK_OK(RenameDurably(incomplete_, path));
    finished_ = true;
    return path;
  }

  std::vector<fs::path> damaged() const override { return damaged_; }
  int64_t id() const override { return id_; }

  // A backup is invalid from its first missing file on, so it is renamed before its files are removed.
  Result<size_t> Keep(size_t count) override {
    BRAID_TRY(const std::vector<FoundBackup> found, FindBackups(directory_));
    size_t removed = 0;
    for (; found.size() - removed > count; ++removed) {
      const fs::path gone = directory_ / StrCat(kIncompletePrefix, "removed-", found[removed].id);
      BRAID_CHECK_OK(RenameDurably(found[removed].path, gone));
      std::error_code error;
      fs::remove_all(gone, error);
      if (error) return FileError(StrCat("remove ", gone.string()), error.value());
    }
    return removed;
  }

 private:
  struct KnownTable {
    BackupFile file;
    fs::path path;
  };

  /// A newer backup's tables replace older ones with the same name. A file whose size has changed is not used again.
  void NoteKnown(const FoundBackup& backup) {
    for (const BackupFile& file : backup.list->files) {
      std::error_code error;
      const fs::path path = backup.path / file.name;
      if (file.table && fs::file_size(path, error) == file.size && !error) known_[file.name] = {file, path};
    }
  }

  const fs::path directory_;
  const std::unique_ptr<TargetLock> lock_;
  const int64_t id_;
  const fs::path incomplete_;
  std::map<std::string, KnownTable> known_;
  std::vector<fs::path> damaged_;
  std::string store_;  // whose backups these are; empty: there are none
  std::optional<OutputFile> output_;
  bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<Target>> OpenDirectoryTarget(const fs::path& directory, const TargetOptions& options) {
  if (storage::HoldsStore(directory)) {
    return Status(Code::kIllegalOperation, StrCat(directory.string(), " is a store: choose another directory"));
  }
  std::error_code error;
  const bool made = fs::create_directories(directory, error);
  if (error) return FileError(StrCat("create the directory ", directory.string()), error.value());
  if (made) BRAID_CHECK_OK(SyncDirectory(fs::absolute(directory / "..")));
  BRAID_TRY(auto lock, TargetLock::Take(directory));
  BRAID_TRY(auto found, FindBackups(directory));
  auto target = std::make_unique<DirectoryTarget>(directory, std::move(lock), std::move(found));
  BRAID_CHECK_OK(target->Prepare());
  if (options.check_known) BRAID_CHECK_OK(target->CheckKnown());
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace braid::backup
