#include "engine/storage/sorted_batch.h"

#include <rocksdb/write_batch.h>

#include "base/assert.h"
#include "engine/storage/change_index.h"

namespace braid::storage {
namespace {

constexpr size_t kSortedFrom = 64;      // changes; sorting fewer does not pay
constexpr size_t kRoomForTheMark = 64;  // which is appended next (log_scan.h)

}  // namespace

void SortBatch(const ChangeIndex& index, rocksdb::WriteBatch& batch) {
  if (index.size() < kSortedFrom || index.size() != batch.Count()) return;
  rocksdb::WriteBatch sorted(batch.GetDataSize() + kRoomForTheMark);
  for (const uint32_t number : index.InOrder()) {
    const ChangeIndex::ChangeBytes change = index.At(number);
    rocksdb::Status status;
    switch (change.kind) {
      case ChangeIndex::Kind::kPut: status = sorted.Put(change.key, change.value); break;
      case ChangeIndex::Kind::kDelete: status = sorted.Delete(change.key); break;
      case ChangeIndex::Kind::kMerge: status = sorted.Merge(change.key, change.value); break;
    }
    BRAID_ASSERT(status.ok());
  }
  BRAID_ASSERT(sorted.Count() == batch.Count());  // nothing is lost
  batch = std::move(sorted);
}

}  // namespace braid::storage
