// StoreFiles: the files of a store at one moment, kept from being removed while they are copied or checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/storage/store.h"

namespace rocksdb {
class DB;
class FSRandomAccessFile;
struct LiveFileStorageInfo;
}  // namespace rocksdb

namespace braid::storage {

struct StoreFile {
  std::string name;
  uint64_t size = 0;
  bool table = false;
  /// Of a table: the hash of its last 4 KiB, where RocksDB notes which process wrote it and under which number. Two
  /// tables with the same name, size and mark are the same file.
  uint64_t mark = 0;
  /// Of a small file that is made for the copy. Every other file is read from the disk.
  std::optional<std::string> contents;
};

/// The files that make up a copy. Copied into an empty directory they are a store with everything that was committed
/// when they were pinned: all of it is in tables, the one log is empty, and the record of what is durable
/// (durable_record.h) describes the copy. One thread at a time; must not outlive the store.
class StoreFiles {
 public:
  /// See Store::PinFiles(). `place` is kept as long as the files are; `log` gives the number of the newest log.
  static Result<std::unique_ptr<StoreFiles>> PinWhole(rocksdb::DB& db, std::shared_ptr<void> place,
                                                      const std::function<uint64_t()>& log);
  static Result<std::unique_ptr<StoreFiles>> PinTables(rocksdb::DB& db, std::shared_ptr<void> place);
  ~StoreFiles();  ///< removes files that were kept only for it
  StoreFiles(const StoreFiles&) = delete;
  StoreFiles& operator=(const StoreFiles&) = delete;

  /// Tables first.
  const std::vector<StoreFile>& files() const { return files_; }
  /// Everything committed up to here is in the files.
  LogPosition position() const { return position_; }
  uint64_t bytes() const;
  /// RocksDB's name for the store, which a copy keeps.
  std::string identity() const;

  /// `size` bytes of the file from `offset` on, which it must have.
  Status Read(const StoreFile& file, uint64_t offset, size_t size, std::string* out);
  /// Reads the whole table: kStorageCorrupt names it if a block does not match its checksum. Leaves the store writable.
  Status CheckBlocks(const StoreFile& table) const;

 private:
  StoreFiles(rocksdb::DB& db, std::shared_ptr<void> place);
  std::string PathOf(const StoreFile& file) const;
  Status AddTable(std::string name, uint64_t size);
  Status AddManifest(const rocksdb::LiveFileStorageInfo& manifest);
  void AddMade(std::string name, std::string contents);

  rocksdb::DB& db_;
  const std::shared_ptr<void> place_;
  LogPosition position_ = 0;
  std::vector<StoreFile> files_;
  std::string open_name_;  // of the file that was read last
  std::unique_ptr<rocksdb::FSRandomAccessFile> open_;
};

}  // namespace braid::storage
