// A cursor on RocksDB's iterator.
#include "engine/storage/store_cursor.h"

#include <rocksdb/db.h>

#include "base/assert.h"
#include "engine/storage/failures.h"

namespace braid::storage {
namespace {

/// RocksDB reads the bounds anew with each seek, so they may move between seeks. It may have concluded before that a
/// file has nothing below the lower one or above the upper one: Valid() therefore looks at the key itself in a cursor
/// that has moved.
class StoreCursor final : public Cursor {
 public:
  StoreCursor(rocksdb::DB& db, Syncer& syncer, Range range, const rocksdb::Snapshot* snapshot)
      : syncer_(syncer), range_(std::move(range)), lower_(range_.begin), upper_(range_.end) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    options.iterate_lower_bound = &lower_;  // both point into this object, which outlives the iterator
    if (!range_.end.empty()) options.iterate_upper_bound = &upper_;
    iterator_.reset(db.NewIterator(options));
  }
  StoreCursor(const StoreCursor&) = delete;
  StoreCursor& operator=(const StoreCursor&) = delete;

  bool Valid() const override { return placed_ && iterator_->Valid() && (!moved_ || IsInside()); }
  std::string_view key() const override {
    BRAID_ASSERT(placed_ && iterator_->Valid());
    return iterator_->key().ToStringView();
  }
  std::string_view value() const override {
    BRAID_ASSERT(placed_ && iterator_->Valid());
    return iterator_->value().ToStringView();
  }
  void Next() override {
    BRAID_ASSERT(placed_);
    iterator_->Next();
  }
  void Prev() override {
    BRAID_ASSERT(placed_);
    iterator_->Prev();
  }
  void SeekToFirst() override { Seek(range_.begin); }
  void SeekToLast() override {
    placed_ = true;
    iterator_->SeekToLast();
  }
  void Seek(std::string_view key) override {
    placed_ = true;
    iterator_->Seek({key.data(), key.size()});
  }
  void SeekForPrev(std::string_view key) override {
    placed_ = true;
    iterator_->SeekForPrev({key.data(), key.size()});
  }
  Status status() const override { return ReadStatus(iterator_->status(), syncer_); }
  bool MoveTo(const Range& range) override {
    if (range_.end.empty() || range.end.empty() || !iterator_->status().ok()) return false;
    range_ = range;
    lower_ = range_.begin;
    upper_ = range_.end;
    moved_ = true;
    placed_ = false;
    return true;
  }

 private:
  bool IsInside() const {
    const rocksdb::Slice key = iterator_->key();
    return key.compare(lower_) >= 0 && key.compare(upper_) < 0;
  }

  Syncer& syncer_;
  Range range_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  bool moved_ = false;   // from the range that it was made for
  bool placed_ = false;  // in this range
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

}  // namespace

std::unique_ptr<Cursor> NewStoreCursor(rocksdb::DB& db, Syncer& syncer, Range range,
                                       const rocksdb::Snapshot* snapshot) {
  return std::make_unique<StoreCursor>(db, syncer, std::move(range), snapshot);
}

}  // namespace braid::storage
