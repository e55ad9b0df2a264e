// Reads a log of RocksDB, to find out up to where it is complete. Inside this folder only.
//
// Its format: blocks of 32 KiB; in each, records of  crc u32 | length u16 | type u8 | bytes  (whole, first, middle or
// last part of a commit). A commit:  sequence u64 | count u32 | changes | durability mark.
//
// The mark says what was durable when the commit was written, and where its log began. So the commits after a damaged
// place show whether the place had been synced before.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/storage/store.h"

namespace rocksdb {
class WriteBatch;
}  // namespace rocksdb

namespace braid::storage {

/// The end of every commit in the log.
struct LogMark {
  LogPosition durable;  // everything up to here was on the disk
  LogPosition first;    // no commit of this log is before it
};
void AppendMark(rocksdb::WriteBatch& batch, const LogMark& mark);

/// Goes through one log, block by block.
class LogScan {
 public:
  static constexpr size_t kBlockBytes = 32 << 10;

  /// `next`: the position of the commit that comes next; 0: not known.
  explicit LogScan(LogPosition next) : next_(next) {}
  void Block(std::string_view block);

  uint64_t size() const { return size_; }
  uint64_t whole() const { return whole_; }     ///< the end of the last commit before any damage
  LogPosition first() const { return first_; }  ///< of the first commit; 0: there is none
  LogPosition next() const { return next_; }
  /// True if the bytes after whole() had been synced before later ones were written.
  bool damaged() const { return damaged_; }

 private:
  struct Record;
  static std::optional<Record> RecordAt(std::string_view block, size_t at);
  void Take(const Record& record, uint64_t end);
  void Commit(uint64_t end);
  std::optional<LogMark> Mark() const;

  LogPosition first_ = 0;
  LogPosition next_;
  uint64_t size_ = 0;
  uint64_t whole_ = 0;
  bool lost_ = false;
  bool damaged_ = false;
  bool open_ = false;  // within a commit
  std::string head_;   // the first and last bytes of the commit
  std::string tail_;
};

}  // namespace braid::storage
