// A file system between RocksDB and the disk that keeps the record of what is durable (durable_record.h) true: it sees
// every sync of a manifest, and every removal of a log or manifest. Inside this folder only.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

#include "engine/storage/durable_record.h"

namespace braid::storage {

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
