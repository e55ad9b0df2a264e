#include "engine/storage/sorted_batch.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/assert.h"

namespace braid::storage {
namespace {

constexpr uint32_t kSortedFrom = 64;    // changes; sorting fewer does not pay
constexpr size_t kFamilyBytes = 7;      // what the keys of a collection or an index share on a shard (keys.h)
constexpr size_t kRoomForTheMark = 64;  // which is appended next (log_scan.h)

// Up to `size` bytes of a key from `at` on as a number, in the order of keys: what is missing is zero.
uint64_t BytesOf(const rocksdb::Slice& key, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value = value << 8 | (at + i < key.size() ? static_cast<unsigned char>(key[at + i]) : 0);
  }
  return value;
}

// The changes of a batch as views into it, by the first bytes of their keys. Most batches change a few collections and
// indexes, and many have the keys of each in order already.
class BatchChanges final : public rocksdb::WriteBatch::Handler {
 public:
  enum class Kind { kPut, kDelete, kMerge };
  struct BatchChange {
    Kind kind;
    rocksdb::Slice key;
    rocksdb::Slice value;
  };

  explicit BatchChanges(size_t count) { all_.reserve(count); }

  // Anything else makes Iterate() fail.
  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Add(Kind::kPut, key, value);
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice& key) override { return Add(Kind::kDelete, key, {}); }
  rocksdb::Status MergeCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Add(Kind::kMerge, key, value);
  }

  /// Calls `each` for every change in the order of keys, and of one key in the order of the batch.
  template <typename Each>
  void InOrder(const Each& each) {
    const auto less = [this](const Place& a, const Place& b) {
      if (a.head != b.head) return a.head < b.head;
      const int order = all_[a.number].key.compare(all_[b.number].key);
      return order != 0 ? order < 0 : a.number < b.number;
    };
    for (auto& [first_bytes, places] : families_) {
      if (!std::is_sorted(places.begin(), places.end(), less)) std::sort(places.begin(), places.end(), less);
      for (const Place& place : places) each(all_[place.number]);
    }
  }

 private:
  struct Place {
    uint64_t head;  // the bytes of the key behind its family
    uint32_t number;
  };

  rocksdb::Status Add(Kind kind, const rocksdb::Slice& key, const rocksdb::Slice& value) {
    families_[BytesOf(key, 0, kFamilyBytes)].push_back(
        {BytesOf(key, kFamilyBytes, sizeof(uint64_t)), static_cast<uint32_t>(all_.size())});
    all_.push_back({kind, key, value});
    return rocksdb::Status::OK();
  }

  std::vector<BatchChange> all_;
  std::map<uint64_t, std::vector<Place>> families_;
};

}  // namespace

void SortBatch(rocksdb::WriteBatch& batch) {
  if (batch.Count() < kSortedFrom || batch.HasDeleteRange()) return;
  BatchChanges changes(batch.Count());
  if (!batch.Iterate(&changes).ok()) return;
  rocksdb::WriteBatch sorted(batch.GetDataSize() + kRoomForTheMark);
  changes.InOrder([&sorted](const BatchChanges::BatchChange& change) {
    rocksdb::Status status;
    switch (change.kind) {
      case BatchChanges::Kind::kPut: status = sorted.Put(change.key, change.value); break;
      case BatchChanges::Kind::kDelete: status = sorted.Delete(change.key); break;
      case BatchChanges::Kind::kMerge: status = sorted.Merge(change.key, change.value); break;
    }
    BRAID_ASSERT(status.ok());
  });
  BRAID_ASSERT(sorted.Count() == batch.Count());  // nothing is lost
  batch = std::move(sorted);
}

}  // namespace braid::storage
