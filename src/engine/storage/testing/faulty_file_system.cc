#include "engine/storage/testing/faulty_file_system.h"

#include "base/mutex.h"
#include "engine/storage/testing/simulated_disk.h"

namespace braid::storage {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

using Disk = SimulatedDisk;

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  SequentialFile(std::shared_ptr<Disk> disk, std::shared_ptr<File> file)
      : disk_(std::move(disk)), file_(std::move(file)) {}
  IOStatus Read(size_t count, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
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
    const MutexLock lock(disk_->mu);
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
    const MutexLock lock(disk_->mu);
    return disk_->Append(*file_, data.ToStringView());
  }
  IOStatus Truncate(uint64_t size, const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
    if (IOStatus status = disk_->Change(); !status.ok()) return status;
    if (size < file_->bytes.size()) file_->bytes.resize(size);
    file_->synced = std::min<size_t>(file_->synced, size);
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
    return disk_->Sync(*file_);
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
    return file_->bytes.size();
  }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<File> file_;
};

class RandomRWFile final : public rocksdb::FSRandomRWFile {
 public:
  RandomRWFile(std::shared_ptr<Disk> disk, std::shared_ptr<File> file)
      : disk_(std::move(disk)), file_(std::move(file)) {}
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
    return disk_->Overwrite(*file_, offset, data.ToStringView());
  }
  IOStatus Read(uint64_t offset, size_t count, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*debug*/) const override {
    const MutexLock lock(disk_->mu);
    return disk_->Read(*file_, offset, count, result, scratch);
  }
  IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
    return disk_->Sync(*file_);
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*debug*/) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<File> file_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  explicit Directory(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const MutexLock lock(disk_->mu);
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

FaultyFileSystem::FaultyFileSystem(uint64_t seed) : disk_(std::make_shared<SimulatedDisk>(seed)) {}
FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::Arm(Fault fault, uint64_t after) {
  const MutexLock lock(disk_->mu);
  disk_->armed = fault;
  disk_->left = after;
  disk_->fired = false;
}

bool FaultyFileSystem::Fired() const {
  const MutexLock lock(disk_->mu);
  return disk_->fired;
}

void FaultyFileSystem::LosePower() {
  const MutexLock lock(disk_->mu);
  if (!disk_->dead) disk_->LosePower();
}

void FaultyFileSystem::Kill() {
  const MutexLock lock(disk_->mu);
  disk_->dead = true;
}

void FaultyFileSystem::Restart() {
  const MutexLock lock(disk_->mu);
  disk_->dead = false;
  disk_->armed.reset();
  disk_->fired = false;
  disk_->locks.clear();
}

bool FaultyFileSystem::DamageTable() {
  const MutexLock lock(disk_->mu);
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
  const MutexLock lock(disk_->mu);
  const auto file = disk_->Find(name);
  if (file == nullptr) return NotFound(name);
  *result = std::make_unique<SequentialFile>(disk_, file);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& /*options*/,
                                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  const auto file = disk_->Find(name);
  if (file == nullptr) return NotFound(name);
  *result = std::make_unique<RandomAccessFile>(disk_, file);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::NewWritableFile(const std::string& name, const rocksdb::FileOptions& /*options*/,
                                           std::unique_ptr<rocksdb::FSWritableFile>* result, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  if (IOStatus status = disk_->Change(); !status.ok()) return status;
  auto file = std::make_shared<File>();
  disk_->Rename({{name, file}});
  *result = std::make_unique<WritableFile>(disk_, std::move(file));
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                              std::unique_ptr<rocksdb::FSWritableFile>* result, Debug* debug) {
  {
    const MutexLock lock(disk_->mu);
    if (const auto file = disk_->Find(name)) {
      *result = std::make_unique<WritableFile>(disk_, file);
      return disk_->Alive();
    }
  }
  return NewWritableFile(name, options, result, debug);
}

IOStatus FaultyFileSystem::NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& /*options*/,
                                           std::unique_ptr<rocksdb::FSRandomRWFile>* result, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  const auto file = disk_->Find(name);
  if (file == nullptr) return NotFound(name);
  *result = std::make_unique<RandomRWFile>(disk_, file);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::NewDirectory(const std::string& /*name*/, const Options& /*options*/,
                                        std::unique_ptr<rocksdb::FSDirectory>* result, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  *result = std::make_unique<Directory>(disk_);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::FileExists(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  if (IOStatus status = disk_->Alive(); !status.ok()) return status;
  return disk_->Find(name) != nullptr || disk_->directories.contains(name) ? IOStatus::OK() : IOStatus::NotFound(name);
}

IOStatus FaultyFileSystem::GetChildren(const std::string& directory, const Options& /*options*/,
                                       std::vector<std::string>* result, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  result->clear();
  const std::string prefix = directory.ends_with('/') ? directory : directory + '/';
  for (const auto& [name, file] : disk_->files) {
    if (name.starts_with(prefix)) result->push_back(name.substr(prefix.size()));
  }
  return disk_->Alive();
}

IOStatus FaultyFileSystem::DeleteFile(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  if (IOStatus status = disk_->Change(); !status.ok()) return status;
  if (disk_->Find(name) == nullptr) return NotFound(name);
  disk_->Rename({{name, nullptr}});
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::CreateDir(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  disk_->directories.insert(name);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::CreateDirIfMissing(const std::string& name, const Options& options, Debug* debug) {
  return CreateDir(name, options, debug);
}

IOStatus FaultyFileSystem::DeleteDir(const std::string& name, const Options& /*options*/, Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
  disk_->directories.erase(name);
  return disk_->Alive();
}

IOStatus FaultyFileSystem::GetFileSize(const std::string& name, const Options& /*options*/, uint64_t* size,
                                       Debug* /*debug*/) {
  const MutexLock lock(disk_->mu);
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
  const MutexLock lock(disk_->mu);
  if (IOStatus status = disk_->Change(); !status.ok()) return status;
  const auto file = disk_->Find(from);
  if (file == nullptr) return NotFound(from);
  disk_->Rename({{from, nullptr}, {to, file}});
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::LockFile(const std::string& name, const Options& /*options*/, rocksdb::FileLock** lock,
                                    Debug* /*debug*/) {
  const MutexLock guard(disk_->mu);
  if (IOStatus status = disk_->Alive(); !status.ok()) return status;
  if (!disk_->locks.insert(name).second) return IOStatus::IOError("lock " + name, "held already");
  *lock = new Lock(name);
  return IOStatus::OK();
}

IOStatus FaultyFileSystem::UnlockFile(rocksdb::FileLock* lock, const Options& /*options*/, Debug* /*debug*/) {
  const MutexLock guard(disk_->mu);
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
  const MutexLock lock(disk_->mu);
  *is = disk_->directories.contains(path);
  return IOStatus::OK();
}

}  // namespace braid::storage
