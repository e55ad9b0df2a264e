// Cursors over the store itself, and over a store with a write set's changes laid over it. Inside this folder only.
#pragma once

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

/// Damage is reported to `syncer`.
std::unique_ptr<Cursor> NewStoreCursor(rocksdb::DB& db, Syncer& syncer, Range range, const rocksdb::Snapshot* snapshot);

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
