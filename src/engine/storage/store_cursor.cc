// A cursor on RocksDB's iterator, and one that lays a write set's changes over another cursor.
#include "engine/storage/store_cursor.h"

#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>

#include "base/assert.h"
#include "engine/storage/failures.h"

namespace braid::storage {
namespace {

// A cursor that has stepped over more entries than this for each key, and more than this in all, reports them.
constexpr uint64_t kSkippedPerKey = 4;
constexpr uint64_t kSkippedMin = 1000;

/// RocksDB reads the bounds anew with each seek, so they may move between seeks. It may have concluded before that a
/// file has nothing below the lower one or above the upper one: Valid() therefore looks at the key itself in a cursor
/// that has moved.
class StoreCursor final : public Cursor {
 public:
  StoreCursor(rocksdb::DB& db, const CursorReports& reports, Range range, const rocksdb::Snapshot* snapshot)
      : reports_(reports), range_(std::move(range)), lower_(range_.begin), upper_(range_.end) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    options.iterate_lower_bound = &lower_;  // both point into this object, which outlives the iterator
    if (!range_.end.empty()) options.iterate_upper_bound = &upper_;
    iterator_.reset(db.NewIterator(options));
  }
  ~StoreCursor() override {
    if (skipped_ > kSkippedMin && skipped_ > kSkippedPerKey * moves_) reports_.skipped.Add(skipped_);
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
    Move([this] { iterator_->Next(); });
  }
  void Prev() override {
    BRAID_ASSERT(placed_);
    Move([this] { iterator_->Prev(); });
  }
  void SeekToFirst() override { Seek(range_.begin); }
  void SeekToLast() override {
    placed_ = true;
    Move([this] { iterator_->SeekToLast(); });
  }
  void Seek(std::string_view key) override {
    placed_ = true;
    Move([&] { iterator_->Seek({key.data(), key.size()}); });
  }
  void SeekForPrev(std::string_view key) override {
    placed_ = true;
    Move([&] { iterator_->SeekForPrev({key.data(), key.size()}); });
  }
  Status status() const override { return ReadStatus(iterator_->status(), reports_.damage); }
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
  // RocksDB counts for the thread; a cursor may be on another one when it moves next.
  template <typename Step>
  void Move(const Step& step) {
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);  // commits and look-ups do without: counting each comparison costs
    const rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
    const uint64_t before = counts.internal_key_skipped_count + counts.internal_delete_skipped_count;
    step();
    skipped_ += counts.internal_key_skipped_count + counts.internal_delete_skipped_count - before;
    ++moves_;
  }
  bool IsInside() const {
    const rocksdb::Slice key = iterator_->key();
    return key.compare(lower_) >= 0 && key.compare(upper_) < 0;
  }

  const CursorReports reports_;
  uint64_t moves_ = 0;
  uint64_t skipped_ = 0;
  Range range_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  bool moved_ = false;   // from the range that it was made for
  bool placed_ = false;  // in this range
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

/// A change hides the store's state of its key.
/// Position: `base_` and `at_` both stand at their first entry not yet passed in the direction of travel; `on_change_`
/// says which of them is shown.
class OverlayCursor final : public Cursor {
 public:
  OverlayCursor(std::unique_ptr<Cursor> base, Changes changes)
      : base_(std::move(base)), changes_(std::move(changes)), at_(static_cast<ptrdiff_t>(changes_.size())) {}

  bool Valid() const override { return valid_; }
  std::string_view key() const override {
    BRAID_ASSERT(valid_);
    return on_change_ ? change().key : base_->key();
  }
  std::string_view value() const override {
    BRAID_ASSERT(valid_);
    return on_change_ ? change().value : base_->value();
  }
  Status status() const override { return base_->status(); }
  bool MoveTo(const Range&) override { return false; }  // the changes are those of its range

  void SeekToFirst() override {
    base_->SeekToFirst();
    at_ = 0;
    Settle(true);
  }
  void SeekToLast() override {
    base_->SeekToLast();
    at_ = static_cast<ptrdiff_t>(changes_.size()) - 1;
    Settle(false);
  }
  void Seek(std::string_view key) override {
    base_->Seek(key);
    at_ = static_cast<ptrdiff_t>(changes_.LowerBound(key));
    Settle(true);
  }
  void SeekForPrev(std::string_view key) override {
    base_->SeekForPrev(key);
    at_ = static_cast<ptrdiff_t>(changes_.LowerBound(key));
    if (!HasChange() || change().key != key) --at_;
    Settle(false);
  }
  void Next() override { Move(true); }
  void Prev() override { Move(false); }

 private:
  const Changes::Change& change() const {
    BRAID_ASSERT(HasChange());
    return changes_[static_cast<size_t>(at_)];
  }
  bool HasChange() const { return at_ >= 0 && at_ < static_cast<ptrdiff_t>(changes_.size()); }

  void Move(bool forward) {
    if (forward != forward_) {
      const std::string here(key());
      forward ? Seek(here) : SeekForPrev(here);
      if (!valid_) return;  // a block could not be read
    }
    if (on_change_) {
      at_ += forward ? 1 : -1;
    } else {
      forward ? base_->Next() : base_->Prev();
    }
    Settle(forward);
  }

  /// Chooses the entry that is shown, skipping deletions and entries that changes hide.
  void Settle(bool forward) {
    forward_ = forward;
    while (true) {
      if (!base_->Valid() && !base_->status().ok()) {
        valid_ = false;
        return;
      }
      if (!HasChange()) {
        on_change_ = false;
        valid_ = base_->Valid();
        return;
      }
      const int order = base_->Valid() ? change().key.compare(base_->key()) : (forward ? -1 : 1);
      if (order == 0) {
        forward ? base_->Next() : base_->Prev();
        continue;
      }
      if ((order > 0) == forward) {
        on_change_ = false;
        valid_ = true;
        return;
      }
      if (!change().deleted) {
        on_change_ = true;
        valid_ = true;
        return;
      }
      at_ += forward ? 1 : -1;
    }
  }

  std::unique_ptr<Cursor> base_;
  const Changes changes_;
  ptrdiff_t at_;
  bool forward_ = true;
  bool on_change_ = false;
  bool valid_ = false;
};

}  // namespace

std::unique_ptr<Cursor> NewStoreCursor(rocksdb::DB& db, const CursorReports& reports, Range range,
                                       const rocksdb::Snapshot* snapshot) {
  return std::make_unique<StoreCursor>(db, reports, std::move(range), snapshot);
}

void Changes::Reserve(size_t changes, size_t bytes) {
  list_.reserve(changes);
  bytes_ = std::make_unique<char[]>(bytes);
  reserved_ = bytes;
}

void Changes::Add(std::string_view key, std::string_view value, bool deleted) {
  BRAID_ASSERT(key.size() + value.size() <= reserved_ - used_);
  BRAID_ASSERT(list_.empty() || list_.back().key < key);  // LowerBound() searches by halves
  char* at = bytes_.get() + used_;
  key.copy(at, key.size());  // a deletion has no value, not even a pointer: not for memcpy
  value.copy(at + key.size(), value.size());
  used_ += key.size() + value.size();
  list_.push_back({{at, key.size()}, {at + key.size(), value.size()}, deleted});
}

size_t Changes::LowerBound(std::string_view key) const {
  const auto at = std::lower_bound(list_.begin(), list_.end(), key,
                                   [](const Change& change, std::string_view k) { return change.key < k; });
  return static_cast<size_t>(at - list_.begin());
}

std::unique_ptr<Cursor> NewOverlayCursor(std::unique_ptr<Cursor> base, Changes changes) {
  return std::make_unique<OverlayCursor>(std::move(base), std::move(changes));
}

}  // namespace braid::storage
