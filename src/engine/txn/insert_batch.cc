#include "engine/txn/insert_batch.h"

#include "base/assert.h"
#include "engine/storage/keys.h"

namespace braid::txn {
namespace {

// Where stored ids lie between the new ones, a look-up for each is cheaper.
constexpr size_t kSearchesMin = 32;
constexpr size_t kIdsOfOneSearch = 4;
constexpr int kStepsMax = 2;  // before a seek

}  // namespace

bool InsertBatch::Applies(const catalog::Collection& collection) const {
  const sharding::Placement& placement = *collection.placement;
  return context_.is_transaction() && !context_.snapshot().empty() && !placement.keeps_global_keys() &&
         !placement.is_moving();
}

Result<bool> InsertBatch::IsFree(const catalog::Collection& collection, std::string_view id_key) {
  if (look_ups_) return false;
  ++asked_;
  if (searches_ > kSearchesMin && asked_ < searches_ * kIdsOfOneSearch) {
    cursor_.reset();
    has_gap_ = false;
    return false;
  }
  if (!Applies(collection)) return false;
  if (cursor_ == nullptr || collection_ != collection.number) Start(collection);
  key_.assign(prefix_).append(id_key);
  if (context_.writes().HasChange(key_)) return false;
  const bool within = has_gap_ && key_ >= gap_begin_ && (gap_end_.empty() || key_ < gap_end_);
  if (!within) BRAID_CHECK_OK(Search());
  return has_gap_;
}

void InsertBatch::Start(const catalog::Collection& collection) {
  const storage::ShardNumber shard = collection.placement->chunks.front().shard;
  prefix_ = storage::DocumentPrefix(collection.number, shard);
  cursor_ = context_.shared().store.NewCursor(storage::DocumentRange(collection.number, shard), context_.snapshot());
  collection_ = collection.number;
  has_gap_ = false;
}

// Afterwards the gap begins with the key, or there is none because the key is stored. The cursor is always on the first
// stored key that is not before `gap_begin_`, so it can walk on to a key behind that.
Status InsertBatch::Search() {
  ++searches_;
  for (int step = 0; step < kStepsMax && cursor_->Valid() && cursor_->key() < key_; ++step) cursor_->Next();
  const bool is_there = cursor_->Valid() && cursor_->key() >= key_ && gap_begin_ < key_;
  if (!is_there) cursor_->Seek(key_);
  if (!cursor_->Valid()) BRAID_CHECK_OK(cursor_->status());
  gap_begin_ = key_;
  gap_end_ = cursor_->Valid() ? std::string(cursor_->key()) : std::string();
  BRAID_ASSERT(gap_end_.empty() || gap_end_ >= key_);
  has_gap_ = gap_end_ != key_;
  return {};
}

}  // namespace braid::txn
