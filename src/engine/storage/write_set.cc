// WriteSet: RocksDB's batch, with an index over its own bytes (change_index.h).
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.h"
#include "engine/storage/change_index.h"
#include "engine/storage/sorted_batch.h"
#include "engine/storage/store.h"
#include "engine/storage/store_cursor.h"

namespace braid::storage {

namespace {

constexpr size_t kLargeBytes = 256 << 10;  // a batch that may become much larger
constexpr size_t kGrowth = 16;
constexpr size_t kRoomMax = 64u << 20;  // beyond it batches grow by doubling
constexpr size_t kRecordBytesMax = 16;  // what RocksDB adds to a key and a value

/// A batch in memory only fails when it is out of bounds, which its own limits exclude.
void Must(const rocksdb::Status& status) { BRAID_ASSERT(status.ok()); }

}  // namespace

struct WriteSet::Impl {
  rocksdb::WriteBatch batch;
  ChangeIndex index{batch};
  std::vector<size_t> marks;  // index.size() at each save point

  /// Gives a large batch much more room than it needs, before `bytes` more are added. The room costs nothing until it
  /// is used, while growing in small steps copies everything into new memory again and again.
  void MakeRoom(size_t bytes) {
    const std::string& data = batch.Data();
    if (data.size() < kLargeBytes || data.size() + bytes <= data.capacity() || !marks.empty()) return;
    std::string larger;
    larger.reserve(std::max(data.size() * 2, std::min(data.size() * kGrowth, kRoomMax)) + bytes);
    larger.append(data);
    batch = rocksdb::WriteBatch(std::move(larger));
  }
};

WriteSet::WriteSet(Store& store) : store_(&store) {}
WriteSet::~WriteSet() = default;
WriteSet::WriteSet(WriteSet&&) noexcept = default;
WriteSet& WriteSet::operator=(WriteSet&&) noexcept = default;

WriteSet::Impl& WriteSet::impl() {
  if (impl_ == nullptr) impl_ = std::make_unique<Impl>();
  return *impl_;
}
rocksdb::WriteBatch& WriteSet::batch() { return impl().batch; }

void WriteSet::Put(std::string_view key, std::string_view value) {
  impl().MakeRoom(key.size() + value.size() + kRecordBytesMax);
  Must(impl().batch.Put(key, value));
  impl_->index.Note(ChangeIndex::Kind::kPut, key, value.size());
}

void WriteSet::Delete(std::string_view key) {
  Must(impl().batch.Delete(key));
  impl_->index.Note(ChangeIndex::Kind::kDelete, key, 0);
}

void WriteSet::Add(std::string_view key, int64_t amount) {
  const rocksdb::Slice value(reinterpret_cast<const char*>(&amount), sizeof(amount));
  Must(impl().batch.Merge(key, value));
  impl_->index.Note(ChangeIndex::Kind::kMerge, key, value.size());
}

bool WriteSet::empty() const { return impl_ == nullptr || impl_->batch.Count() == 0; }
size_t WriteSet::bytes() const { return impl_ == nullptr ? 0 : impl_->batch.GetDataSize(); }

void WriteSet::Clear() { impl_.reset(); }

void WriteSet::Sort() {
  if (impl_ != nullptr) SortBatch(impl_->index, impl_->batch);
}

void WriteSet::SetSavePoint() {
  impl().batch.SetSavePoint();
  impl_->marks.push_back(impl_->index.size());
}

void WriteSet::RollbackToSavePoint() {
  BRAID_ASSERT(impl_ != nullptr && !impl_->marks.empty());
  while (impl_->index.size() > impl_->marks.back()) impl_->index.ForgetNewest();  // while their bytes are still there
  impl_->marks.pop_back();
  Must(impl_->batch.RollbackToSavePoint());
}

void WriteSet::PopSavePoint() {
  BRAID_ASSERT(impl_ != nullptr && !impl_->marks.empty());
  impl_->marks.pop_back();
  Must(impl_->batch.PopSavePoint());
}

bool WriteSet::HasChange(std::string_view key) const {
  return impl_ != nullptr && impl_->index.Find(key) != ChangeIndex::kNone;
}

Result<bool> WriteSet::Get(std::string_view key, const Snapshot& snapshot, Buffer* out) const {
  const uint32_t change = impl_ == nullptr ? ChangeIndex::kNone : impl_->index.Find(key);
  if (change == ChangeIndex::kNone) return store_->Get(key, snapshot, out);
  const ChangeIndex::ChangeBytes found = impl_->index.At(change);
  if (found.kind == ChangeIndex::Kind::kDelete) return false;
  out->Copy(found.value);  // the batch's bytes move when it grows
  return true;
}

std::unique_ptr<Cursor> WriteSet::StoreCursorOver(Range range, const Snapshot& snapshot,
                                                  std::unique_ptr<Cursor> spare) const {
  if (spare != nullptr && spare->MoveTo(range)) return spare;
  return store_->NewCursor(std::move(range), snapshot);
}

std::unique_ptr<Cursor> WriteSet::NewCursor(Range range, const Snapshot& snapshot,
                                            std::unique_ptr<Cursor> spare) const {
  if (impl_ == nullptr || !impl_->index.MayChange(range)) {
    return StoreCursorOver(std::move(range), snapshot, std::move(spare));
  }
  size_t count = 0;
  size_t bytes = 0;
  impl_->index.ForEachIn(range, [&](const ChangeIndex::ChangeBytes& change) {
    ++count;
    bytes += change.key.size() + change.value.size();
  });
  if (count == 0) return StoreCursorOver(std::move(range), snapshot, std::move(spare));
  Changes changes;
  changes.Reserve(count, bytes);
  impl_->index.ForEachIn(range, [&](const ChangeIndex::ChangeBytes& change) {
    changes.Add(change.key, change.value, change.kind == ChangeIndex::Kind::kDelete);
  });
  return NewOverlayCursor(StoreCursorOver(std::move(range), snapshot, std::move(spare)), std::move(changes));
}

}  // namespace braid::storage
