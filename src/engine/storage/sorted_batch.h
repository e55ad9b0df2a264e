// SortedBatch: a large batch in the order of its keys, which RocksDB's memtable takes in much faster.
#pragma once

namespace rocksdb {
class WriteBatch;
}

namespace braid::storage {

/// Puts the changes of a large batch into the order of their keys; those of one key stay in their order. Leaves a small
/// one, and one that deletes ranges, as it is. The batch must have no save points.
void SortBatch(rocksdb::WriteBatch& batch);

}  // namespace braid::storage
