// SortedBatch: a large batch in the order of its keys, which RocksDB's memtable takes in much faster.
#pragma once

namespace rocksdb {
class WriteBatch;
}

namespace braid::storage {

class ChangeIndex;

/// Puts the changes of a large batch into the order of their keys; those of one key stay in their order. Leaves a small
/// one, and one that has more than the index knows (a deletion of a range), as it is. Afterwards the index is of no use
/// any more. The batch must have no save points.
void SortBatch(const ChangeIndex& index, rocksdb::WriteBatch& batch);

}  // namespace braid::storage
