// Cursors over the store itself, and over a store with a write set's changes laid over it. Inside this folder only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/storage/store.h"

namespace rocksdb {
class DB;
class Snapshot;
}  // namespace rocksdb

namespace braid::storage {

class Syncer;

/// Counts the old versions and deletions between the keys that cursors had to step over. Any thread.
class SkippedEntries {
 public:
  void Add(uint64_t entries) { count_.fetch_add(entries, std::memory_order_relaxed); }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  void Reset() { count_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

/// Where a cursor reports what it meets.
struct CursorReports {
  Syncer& damage;
  SkippedEntries& skipped;
};
std::unique_ptr<Cursor> NewStoreCursor(rocksdb::DB& db, const CursorReports& reports, Range range,
                                       const rocksdb::Snapshot* snapshot);

/// Changes of a write set within one range, copied, in the order of their keys.
class Changes {
 public:
  void Reserve(size_t changes, size_t bytes);  ///< before the first Add, enough for all: bytes never move
  void Add(std::string_view key, std::string_view value, bool deleted);
  size_t size() const { return list_.size(); }

  struct Change {
    std::string_view key;
    std::string_view value;
    bool deleted;
  };
  const Change& operator[](size_t i) const { return list_[i]; }
  size_t LowerBound(std::string_view key) const;  ///< the first change at or after `key`

 private:
  std::unique_ptr<char[]> bytes_;
  size_t reserved_ = 0;
  size_t used_ = 0;
  std::vector<Change> list_;
};

std::unique_ptr<Cursor> NewOverlayCursor(std::unique_ptr<Cursor> base, Changes changes);

}  // namespace braid::storage
