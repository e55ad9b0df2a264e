// A file system between RocksDB and the disk that controls the order of writes to the logs. Inside this folder only.
//
// Order: no byte of a log is written before the logs before it are synced. RocksDB itself starts a new log while the
// end of the old one is still in the system's cache; a power failure could then lose that end and keep later commits.
//
// Failure: once a log could not be written or synced, nothing is written any more, to any file: the disk stays as it
// was. RocksDB is not told about its log (the packaged library asserts that nobody appends to a log after an error, but
// cannot keep a commit from doing so in the moment of the error); the store asks failure() instead.
#pragma once

#include <rocksdb/file_system.h>

#include <functional>
#include <memory>

#include "braid/status.h"

namespace braid::storage {

/// Any thread.
class LogOrder final : public rocksdb::FileSystemWrapper {
 public:
  /// `started` is called with its number when RocksDB begins a new log; no commit is in progress then.
  LogOrder(const std::shared_ptr<rocksdb::FileSystem>& base, std::function<void(uint64_t)> started);
  /// OK, or why a log is broken. Must be called after every write and sync of the log, which always succeed for
  /// RocksDB.
  Status failure() const;

  const char* Name() const override { return "braid.log-order"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  struct Logs;

 private:
  const std::function<void(uint64_t)> started_;
  const std::shared_ptr<Logs> logs_;  // shared with open files
};

}  // namespace braid::storage
