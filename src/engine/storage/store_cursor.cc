// A cursor on RocksDB's iterator.
#include "engine/storage/store_cursor.h"

#include <rocksdb/db.h>

#include "engine/storage/failures.h"

namespace braid::storage {
namespace {

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

  bool Valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return iterator_->key().ToStringView(); }
  std::string_view value() const override { return iterator_->value().ToStringView(); }
  void Next() override { iterator_->Next(); }
  void Prev() override { iterator_->Prev(); }
  void SeekToFirst() override { iterator_->Seek(lower_); }
  void SeekToLast() override { iterator_->SeekToLast(); }
  void Seek(std::string_view key) override { iterator_->Seek({key.data(), key.size()}); }
  void SeekForPrev(std::string_view key) override { iterator_->SeekForPrev({key.data(), key.size()}); }
  Status status() const override { return ReadStatus(iterator_->status(), syncer_); }

 private:
  Syncer& syncer_;
  const Range range_;
  const rocksdb::Slice lower_;
  const rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

}  // namespace

std::unique_ptr<Cursor> NewStoreCursor(rocksdb::DB& db, Syncer& syncer, Range range,
                                       const rocksdb::Snapshot* snapshot) {
  return std::make_unique<StoreCursor>(db, syncer, std::move(range), snapshot);
}

}  // namespace braid::storage
