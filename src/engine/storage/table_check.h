// The check of a table file's end before RocksDB reads it. Inside this folder only.
//
// RocksDB verifies the checksum of every block but one, the properties, which it takes apart first; and the footer has
// none. Damage there ends the process with an assertion of the packaged library. So these bytes are checked here,
// whenever a table is opened: at the start of the store for some, later for the others. The end of a table:
//
//   properties | trailer | metaindex | trailer | footer     trailer: compression u8 | checksum u32 of block and u8
//   footer (53 bytes): checksum type u8 | places of metaindex and index | zeros up to byte 41 | version u32 | magic u64
//
// A place is offset varint | size varint. Only files that RocksDB opens are checked: a torn table that was being
// written when the power failed is not one of them.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>

namespace braid::storage {

/// A file system that opens a table only if its end is intact. Any thread.
class TableCheck final : public rocksdb::FileSystemWrapper {
 public:
  explicit TableCheck(const std::shared_ptr<rocksdb::FileSystem>& base) : FileSystemWrapper(base) {}

  const char* Name() const override { return "braid.table-check"; }
  /// Corruption names the table and what is wrong with it.
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override;
};

}  // namespace braid::storage
