// The record of what is durable: a small file, DURABLE, beside those of RocksDB. Inside this folder only.
//
// RocksDB cannot distinguish a manifest that lost its end from one that was written up to there, nor a lost newest log
// from one that never existed. The record says how far both had been synced, so that a start can tell (start_check.h).
//
// It never says more than is on the disk, and after a kill it says all that was acknowledged: it is written after every
// sync of the log, before any writer is answered, but is itself synced only with the manifest and before a file is
// removed. After a power failure it may be older than the last write, and is still true.
// DurableFiles, between RocksDB and the disk, keeps it so.
//
// The file: three slots of 4 KiB, each hash u64 | generation u64 | position u64 | counts u32, u32 | manifests | logs.
// The newest valid one counts. The last synced slot is never overwritten before another one is synced.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"
#include "engine/storage/store.h"

namespace braid::storage {

struct DurableState {
  struct Manifest {
    uint64_t number;
    uint64_t size;  // that was synced
    uint64_t hash;  // XXH3 of these bytes
  };
  struct Log {
    uint64_t number;
    LogPosition first;  // its commits
    LogPosition last;
  };
  LogPosition position = 0;         // everything up to here is durable
  std::vector<Manifest> manifests;  // one of which CURRENT names
  std::vector<Log> logs;            // those that are not yet removed, in order
};

/// Any thread.
class DurableRecord {
 public:
  static constexpr LogPosition kOpenEnd = UINT64_MAX;  // `last` of the log that is being written

  /// Nothing if there is no record; kStorageCorrupt if it is damaged.
  static Result<std::optional<DurableState>> Read(rocksdb::FileSystem& files, const std::string& directory);
  /// Replaces the old record by a new one and syncs it.
  static Result<std::unique_ptr<DurableRecord>> Create(rocksdb::FileSystem& files, const std::string& directory,
                                                       DurableState state);

  /// The file of a record that says this, for a copy of the store.
  static std::string FileOf(const DurableState& state);

  /// Notes that the log is synced up to here. Costs a write to the system's cache.
  rocksdb::IOStatus Reached(LogPosition position);
  /// Notes that RocksDB begins a log, whose commits are at or after `first`.
  void LogStarted(uint64_t number, LogPosition first);
  /// Notes that the manifest was synced. Syncs the record.
  rocksdb::IOStatus ManifestSynced(const DurableState::Manifest& manifest);
  /// Notes that the log or manifest is about to be removed, because it is no longer needed. Syncs the record.
  rocksdb::IOStatus Forget(uint64_t number);

 private:
  static constexpr size_t kNone = SIZE_MAX;
  DurableRecord(std::unique_ptr<rocksdb::FSRandomRWFile> file, DurableState state)
      : file_(std::move(file)), state_(std::move(state)) {}
  rocksdb::IOStatus Write(size_t slot) BRAID_REQUIRES(mu_);
  size_t FreeSlot() const BRAID_REQUIRES(mu_);
  rocksdb::IOStatus WriteAndSync() BRAID_REQUIRES(sync_mu_) BRAID_EXCLUDES(mu_);

  const std::unique_ptr<rocksdb::FSRandomRWFile> file_;
  Mutex sync_mu_;  // one sync at a time; before mu_
  Mutex mu_;       // not held during a sync, which the log's syncer need not wait for
  DurableState state_ BRAID_GUARDED_BY(mu_);
  uint64_t generation_ BRAID_GUARDED_BY(mu_) = 1;
  size_t synced_ BRAID_GUARDED_BY(mu_) = 0;       // the slot that would be left after a power failure
  size_t syncing_ BRAID_GUARDED_BY(mu_) = kNone;  // the slot that is being synced
  rocksdb::IOStatus failure_ BRAID_GUARDED_BY(mu_);
  std::string buffer_ BRAID_GUARDED_BY(mu_);
};

/// A file system that keeps the record true: it sees every sync of a manifest, and every removal of a log or manifest.
/// Any thread.
class DurableFiles final : public rocksdb::FileSystemWrapper {
 public:
  DurableFiles(const std::shared_ptr<rocksdb::FileSystem>& base, std::shared_ptr<DurableRecord> record)
      : FileSystemWrapper(base), record_(std::move(record)) {}

  const char* Name() const override { return "braid.durable-files"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  const std::shared_ptr<DurableRecord> record_;
};

}  // namespace braid::storage
