#include "engine/storage/sorted_batch.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace braid::storage {
namespace {

constexpr uint32_t kSortedFrom = 64;  // changes; sorting fewer does not pay

// The changes of a batch as views into it.
class BatchChanges final : public rocksdb::WriteBatch::Handler {
 public:
  enum class Kind { kPut, kDelete, kMerge };
  struct BatchChange {
    Kind kind;
    rocksdb::Slice key;
    rocksdb::Slice value;
  };

  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Add(Kind::kPut, key, value);
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice& key) override { return Add(Kind::kDelete, key, {}); }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Add(Kind::kMerge, key, value);
  }

  /// Anything else makes Iterate() fail.
  std::vector<BatchChange> all;

 private:
  rocksdb::Status Add(Kind kind, const rocksdb::Slice& key, const rocksdb::Slice& value) {
    all.push_back({kind, key, value});
    return rocksdb::Status::OK();
  }
};

}  // namespace

void SortBatch(rocksdb::WriteBatch& batch) {
  if (batch.Count() < kSortedFrom || batch.HasDeleteRange()) return;
  BatchChanges changes;
  changes.all.reserve(batch.Count());
  if (!batch.Iterate(&changes).ok()) return;
  std::ranges::stable_sort(changes.all, [](const auto& a, const auto& b) { return a.key.compare(b.key) < 0; });
  rocksdb::WriteBatch sorted(batch.GetDataSize());
  for (const BatchChanges::BatchChange& change : changes.all) {
    rocksdb::Status status;
    switch (change.kind) {
      case BatchChanges::Kind::kPut: status = sorted.Put(change.key, change.value); break;
      case BatchChanges::Kind::kDelete: status = sorted.Delete(change.key); break;
      case BatchChanges::Kind::kMerge: status = sorted.Merge(change.key, change.value); break;
    }
    BRAID_ASSERT(status.ok());
  }
  BRAID_ASSERT(sorted.Count() == batch.Count());  // nothing is lost
  batch = std::move(sorted);
}

}  // namespace braid::storage
