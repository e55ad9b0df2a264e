#include "engine/storage/log_order.h"

#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "engine/storage/directory.h"
#include "engine/storage/options.h"

namespace braid::storage {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {
class LogFile;
}

struct LogOrder::Logs {
  std::atomic<bool> failed{false};
  mutable Mutex mu;
  std::vector<LogFile*> unsynced
      BRAID_GUARDED_BY(mu);  // those that may have bytes which are not synced; older than the newest
  IOStatus failure BRAID_GUARDED_BY(mu);

  void Check(const IOStatus& status) {
    if (status.ok()) return;
    const MutexLock lock(mu);
    CheckLocked(status);
  }
  void CheckLocked(const IOStatus& status) BRAID_REQUIRES(mu) {
    if (status.ok() || failed) return;
    failure = status;
    failed = true;
  }
  IOStatus Get() const {
    if (!failed) return IOStatus::OK();
    const MutexLock lock(mu);
    return failure;
  }
};

namespace {

using Logs = LogOrder::Logs;

class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<Logs> logs)
      : FSWritableFileOwnerWrapper(std::move(file)), logs_(std::move(logs)) {}
  ~LogFile() override { Leave(); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (!entered_) Enter();
    if (!logs_->failed) logs_->Check(target()->Append(data, options, debug));
    return IOStatus::OK();
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (!logs_->failed) logs_->Check(target()->Sync(options, debug));
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    if (!logs_->failed) logs_->Check(target()->Fsync(options, debug));
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    Leave();
    return target()->Close(options, debug);
  }

 private:
  /// Before the first byte: syncs the older logs.
  void Enter() {
    entered_ = true;
    const MutexLock lock(logs_->mu);
    for (LogFile* log : logs_->unsynced) {
      if (!logs_->failed) logs_->CheckLocked(log->target()->Fsync({}, nullptr));
    }
    logs_->unsynced.assign(1, this);
  }

  /// RocksDB closes a log when its commits are in table files, or synced. It may still exist after a power failure,
  /// beside a newer one, and must be complete then.
  void Leave() {
    const MutexLock lock(logs_->mu);
    if (std::erase(logs_->unsynced, this) == 0 || logs_->failed) return;
    logs_->CheckLocked(target()->Fsync({}, nullptr));
  }

  const std::shared_ptr<Logs> logs_;
  // RocksDB appends from one thread at a time. Atomic for ThreadSanitizer, which does not see RocksDB's own mutex.
  std::atomic<bool> entered_ = false;
};

/// Any other file: nothing is written to it after a log has failed.
class OtherFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  OtherFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<Logs> logs)
      : FSWritableFileOwnerWrapper(std::move(file)), logs_(std::move(logs)) {}

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return logs_->failed ? logs_->Get() : target()->Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return logs_->failed ? logs_->Get() : target()->Sync(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return logs_->failed ? logs_->Get() : target()->Fsync(options, debug);
  }

 private:
  const std::shared_ptr<Logs> logs_;
};

}  // namespace

LogOrder::LogOrder(const std::shared_ptr<rocksdb::FileSystem>& base, std::function<void(uint64_t)> started)
    : FileSystemWrapper(base), started_(std::move(started)), logs_(std::make_shared<Logs>()) {}

Status LogOrder::failure() const { return Translate(logs_->Get(), "cannot write the log"); }

IOStatus LogOrder::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                   std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  if (logs_->failed) return logs_->Get();
  IOStatus status = target()->NewWritableFile(name, options, result, debug);
  if (!status.ok()) return status;
  if (const auto log = LogNumber(name)) {
    started_(*log);
    *result = std::make_unique<LogFile>(std::move(*result), logs_);
  } else {
    *result = std::make_unique<OtherFile>(std::move(*result), logs_);
  }
  return status;
}

IOStatus LogOrder::DeleteFile(const std::string& name, const IOOptions& options, IODebugContext* debug) {
  return logs_->failed ? logs_->Get() : target()->DeleteFile(name, options, debug);
}

IOStatus LogOrder::RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                              IODebugContext* debug) {
  return logs_->failed ? logs_->Get() : target()->RenameFile(from, to, options, debug);
}

}  // namespace braid::storage
