#include "engine/storage/testing/faulty_file_system.h"

#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"

namespace braid::storage {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

constexpr size_t kSectorBytes = 512;

struct File {
  std::string bytes;
  size_t synced = 0;                            // up to here on the disk,
  std::vector<std::pair<size_t, size_t>> gone;  // except for what a failed sync has forgotten
};
using Files = std::map<std::string, std::shared_ptr<File>>;

/// Names that change together; null: the name goes.
using NameChange = std::vector<std::pair<std::string, std::shared_ptr<File>>>;

void Apply(const NameChange& change, Files& files) {
  for (const auto& [name, file] : change) {
    if (file == nullptr) {
      files.erase(name);
    } else {
      files[name] = file;
    }
  }
}

/// What is left of a file when the power fails.
std::shared_ptr<File> Survivor(const std::string& name, const File& file, Random& random) {
  auto left = std::make_shared<File>();
  const size_t unsynced = file.bytes.size() - file.synced;
  const size_t kept = random.Chance(1, 3) ? 0 : random.Chance(1, 3) ? unsynced : random.Below(unsynced + 1);
  std::string& bytes = left->bytes;
  bytes = file.bytes.substr(0, file.synced + kept);
  for (const auto& [begin, end] : file.gone) {
    for (size_t at = begin; at < std::min(end, bytes.size()); ++at) bytes[at] = 0;
  }
  if (kept > 0 && name.find("MANIFEST") == std::string::npos) {
    switch (random.Below(4)) {
      case 0: {  // garbage at the end
        const size_t garbage = 1 + random.Below(std::min<size_t>(kept, 3 * kSectorBytes));
        for (size_t at = bytes.size() - garbage; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random.Next());
        break;
      }
      case 1:  // sectors that were not written, before others that were
        for (size_t at = file.synced; at < bytes.size(); ++at) {
          const size_t end = std::min(bytes.size(), (at / kSectorBytes + 1) * kSectorBytes);
          if (random.Chance(1, 4)) std::memset(bytes.data() + at, 0, end - at);
          at = end - 1;
        }
        break;
      default: break;  // cut
    }
  }
  left->synced = bytes.size();
  return left;
}

}  // namespace

struct FaultyFileSystem::Disk {
  explicit Disk(uint64_t seed) : random(seed) {}

  mutable std::mutex mu;  // guards what follows
  Random random;
  Files files;                      // as the running system sees them
  Files durable;                    // the names on the disk
  std::vector<NameChange> changes;  // since the directory was synced
  std::set<std::string> directories;
  std::set<std::string> locks;
  std::optional<Fault> armed;
  uint64_t left = 0;  // calls (or bytes) until it happens
  bool fired = false;
  bool again = false;  // what failed once goes on failing
  bool dead = false;

  /// Counts a call of this kind; true if it is to fail.
  bool Due(Fault fault) {
    if (armed != fault) return false;
    if (fired) return again;
    if (left-- > 0) return false;
    fired = true;
    again = random.Chance(1, 2);
    return true;
  }

  /// Before every change. The power may fail here.
  IOStatus Change() {
    if (!dead && Due(Fault::kPowerLoss)) LosePower();
    return Alive();
  }
  IOStatus Alive() const { return dead ? IOStatus::IOError("no power") : IOStatus::OK(); }

  void Rename(NameChange change) {
    Apply(change, files);
    changes.push_back(std::move(change));
  }

  void LosePower() {
    const size_t written = random.Below(changes.size() + 1);
    for (size_t i = 0; i < written; ++i) Apply(changes[i], durable);
    std::map<const File*, std::shared_ptr<File>> survivors;
    for (auto& [name, file] : durable) {
      auto& survivor = survivors[file.get()];
      if (survivor == nullptr) survivor = Survivor(name, *file, random);
      file = survivor;
    }
    files = durable;
    changes.clear();
    dead = true;
  }

  std::shared_ptr<File> Find(const std::string& name) const {
    const auto at = files.find(name);
    return at == files.end() ? nullptr : at->second;
  }

  IOStatus Append(File& file, std::string_view bytes) {
    if (IOStatus status = Change(); !status.ok()) return status;
    if (Due(Fault::kAppendError)) {
      file.bytes.append(bytes.substr(0, random.Below(bytes.size() + 1)));
      return IOStatus::IOError("injected error of an append");
    }
    if (armed == Fault::kFullDisk) {
      const size_t fits = std::min<size_t>(left, bytes.size());
      file.bytes.append(bytes.substr(0, fits));
      left -= fits;
      if (fits == bytes.size()) return IOStatus::OK();
      fired = true;
      return IOStatus::NoSpace("injected: no space left on the disk");
    }
    file.bytes.append(bytes);
    return IOStatus::OK();
  }

  IOStatus Sync(File& file) {
    if (IOStatus status = Change(); !status.ok()) return status;
    if (Due(Fault::kSyncError)) {
      // Systems differ: some forget what they could not write, and the next sync succeeds without it.
      if (random.Chance(1, 2)) {
        file.gone.emplace_back(file.synced, file.bytes.size());
        file.synced = file.bytes.size();
      }
      return IOStatus::IOError("injected error of a sync");
    }
    file.synced = file.bytes.size();
    return IOStatus::OK();
  }

  IOStatus SyncNames() {
    if (IOStatus status = Change(); !status.ok()) return status;
    if (Due(Fault::kSyncError)) return IOStatus::IOError("injected error of a directory's sync");
    for (const NameChange& change : changes) Apply(change, durable);
    changes.clear();
    return IOStatus::OK();
  }

  IOStatus Read(const File& file, uint64_t offset, size_t count, Slice* result, char* scratch) {
    *result = Slice(scratch, 0);
    if (IOStatus status = Alive(); !status.ok()) return status;
    if (Due(Fault::kReadError)) return IOStatus::IOError("injected error of a read");
    if (offset >= file.bytes.size()) return IOStatus::OK();
    const size_t size = file.bytes.copy(scratch, count, offset);
    *result = Slice(scratch, size);
    return IOStatus::OK();
  }
};

namespace {

using Disk = FaultyFileSystem::Disk;

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  SequentialFile(std::shared_ptr<Disk> disk, std::shared_ptr<File> file)
      : disk_(std::move(disk)), file_(std::move(file)) {}
  IOStatus Read(size_t count, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*debug*/) override {
    std::lock_guard lock(disk_->mu);
    IOStatus status = disk_->Read(*file_, at_, count, result, scratch);
    at_ += result->size();
    return status;
  }
  IOStatus Skip(uint64_t count) override {
    at_ += count;
    return IOStatus::OK();
  }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<File> file_;
  uint64_t at_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  RandomAccessFile(std::shared_ptr<Disk> disk, std::shared_ptr<File> file)
      : disk_(std::move(disk)), file_(std::move(file)) {}
  IOStatus Read(uint64_t offset, size_t count, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*debug*/) const override {
    std::lock_guard lock(disk_->mu);
    return disk_->Read(*file_, offset, count, result, scratch);
  }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<File> file_;
};

class WritableFile final : public rocksdb::FSWritableFile {
 public:
  WritableFile(std::shared_ptr<Disk> disk, std::shared_ptr<File> file)
      : disk_(std::move(disk)), file_(std::move(file)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    std::lock_guard lock(disk_->mu);
    return disk_->Append(*file_, data.ToStringView());
  }
  IOStatus Truncate(uint64_t size, const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    std::lock_guard lock(disk_->mu);
    if (IOStatus status = disk_->Change(); !status.ok()) return status;
    if (size < file_->bytes.size()) file_->bytes.resize(size);
    file_->synced = std::min<size_t>(file_->synced, size);
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    std::lock_guard lock(disk_->mu);
    return disk_->Sync(*file_);
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    std::lock_guard lock(disk_->mu);
    return file_->bytes.size();
  }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<File> file_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  explicit Directory(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    std::lock_guard lock(disk_->mu);
    return disk_->SyncNames();
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<Disk> disk_;
};

struct Lock final : rocksdb::FileLock {
  explicit Lock(std::string path) : name(std::move(path)) {}
  const std::string name;
};

IOStatus NotFound(const std::string& name) { return IOStatus::PathNotFound(name); }

}  // namespace

std::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kPowerLoss: return "power loss";
    case Fault::kSyncError: return "failed sync";
    case Fault::kAppendError: return "failed append";
    case Fault::kFullDisk: return "full disk";
    case Fault::kReadError: return "failed read";
  }
  return "";
}

FaultyFileSystem::FaultyFileSystem(uint64_t seed) : disk_(std::make_shared<Disk>(seed)) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::Arm(Fault fault, uint64_t after) {
  std::lock_guard lock(disk_->mu);
  disk_->armed = fault;
  disk_->left = after;
  disk_->fired = false;
}

bool FaultyFileSystem::Fired() const {
  std::lock_guard lock(disk_->mu);
  return disk_->fired;
}

void FaultyFileSystem::LosePower() {
  std::lock_guard lock(disk_->mu);
  if (!disk_->dead) disk_->LosePower();
}

void FaultyFileSystem::Kill() {
  std::lock_guard lock(disk_->mu);
  disk_->dead = true;
}

void FaultyFileSystem::Restart() {
  std::lock_guard lock(disk_->mu);
  disk_->dead = false;
  disk_->armed.reset();
  disk_->fired = false;
  disk_->locks.clear();
}

bool FaultyFileSystem::DamageTable() {
  std::lock_guard lock(disk_->mu);
  std::vector<File*> tables;
  for (const auto& [name, file] : disk_->files) {
    if (name.ends_with(".sst") && !file->bytes.empty()) tables.push_back(file.get());
  }
  if (tables.empty()) return false;
  std::string& bytes = tables[disk_->random.Below(tables.size())]->bytes;
  bytes[disk_->random.Below(bytes.size())] ^= static_cast<char>(1 + disk_->random.Below(255));
  return true;
}

IOStatus FaultyFileSystem::NewSequentialFile(const std::string& name, const rocksdb::FileOptions& /*options*/,
                                             std::unique_ptr<rocksdb::FSSequentialFile>* result, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  const auto file = disk_->Find(name);
  if (file == nullptr) return NotFound(name);
  *result = std::make_unique<SequentialFile>(disk_, file);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& /*options*/,
                                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  const auto file = disk_->Find(name);
  if (file == nullptr) return NotFound(name);
  *result = std::make_unique<RandomAccessFile>(disk_, file);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::NewWritableFile(const std::string& name, const rocksdb::FileOptions& /*options*/,
                                           std::unique_ptr<rocksdb::FSWritableFile>* result, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  if (IOStatus status = disk_->Change(); !status.ok()) return status;
  auto file = std::make_shared<File>();
  disk_->Rename({{name, file}});
  *result = std::make_unique<WritableFile>(disk_, std::move(file));
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                              std::unique_ptr<rocksdb::FSWritableFile>* result, Debug* debug) {
  {
    std::lock_guard lock(disk_->mu);
    if (const auto file = disk_->Find(name)) {
      *result = std::make_unique<WritableFile>(disk_, file);
      return disk_->Alive();
    }
  }
  return NewWritableFile(name, options, result, debug);
}

IOStatus FaultyFileSystem::NewDirectory(const std::string& /*name*/, const Options& /*options*/,
                                        std::unique_ptr<rocksdb::FSDirectory>* result, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  *result = std::make_unique<Directory>(disk_);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::FileExists(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  if (IOStatus status = disk_->Alive(); !status.ok()) return status;
  return disk_->Find(name) != nullptr || disk_->directories.contains(name) ? IOStatus::OK() : IOStatus::NotFound(name);
}

IOStatus FaultyFileSystem::GetChildren(const std::string& directory, const Options& /*options*/,
                                       std::vector<std::string>* result, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  result->clear();
  const std::string prefix = directory.ends_with('/') ? directory : directory + '/';
  for (const auto& [name, file] : disk_->files) {
    if (name.starts_with(prefix)) result->push_back(name.substr(prefix.size()));
  }
  return disk_->Alive();
}

IOStatus FaultyFileSystem::DeleteFile(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  if (IOStatus status = disk_->Change(); !status.ok()) return status;
  if (disk_->Find(name) == nullptr) return NotFound(name);
  disk_->Rename({{name, nullptr}});
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::CreateDir(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  disk_->directories.insert(name);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::CreateDirIfMissing(const std::string& name, const Options& options, Debug* debug) {
  return CreateDir(name, options, debug);
}

IOStatus FaultyFileSystem::DeleteDir(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  disk_->directories.erase(name);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::GetFileSize(const std::string& name, const Options& /*options*/, uint64_t* size,
                                       Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  const auto file = disk_->Find(name);
  if (file == nullptr) return NotFound(name);
  *size = file->bytes.size();
  return disk_->Alive();
}

IOStatus FaultyFileSystem::GetFileModificationTime(const std::string& /*name*/, const Options& /*options*/,
                                                   uint64_t* time, Debug* /*debug*/) {
  *time = 0;
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::RenameFile(const std::string& from, const std::string& to, const Options& /*options*/,
                                      Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  if (IOStatus status = disk_->Change(); !status.ok()) return status;
  const auto file = disk_->Find(from);
  if (file == nullptr) return NotFound(from);
  disk_->Rename({{from, nullptr}, {to, file}});
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::LockFile(const std::string& name, const Options& /*options*/, rocksdb::FileLock** lock,
                                    Debug* /*debug*/) {
  std::lock_guard guard(disk_->mu);
  if (IOStatus status = disk_->Alive(); !status.ok()) return status;
  if (!disk_->locks.insert(name).second) return IOStatus::IOError("lock " + name, "held already");
  *lock = new Lock(name);
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::UnlockFile(rocksdb::FileLock* lock, const Options& /*options*/, Debug* /*debug*/) {
  std::lock_guard guard(disk_->mu);
  const std::unique_ptr<Lock> mine(static_cast<Lock*>(lock));
  disk_->locks.erase(mine->name);
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::GetTestDirectory(const Options& /*options*/, std::string* path, Debug* /*debug*/) {
  *path = "/test";
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::GetAbsolutePath(const std::string& path, const Options& /*options*/, std::string* result,
                                           Debug* /*debug*/) {
  *result = path;
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::IsDirectory(const std::string& path, const Options& /*options*/, bool* is,
                                       Debug* /*debug*/) {
  std::lock_guard lock(disk_->mu);
  *is = disk_->directories.contains(path);
  return IOStatus::OK();
}

}  // namespace braid::storage
