// The table in memory that RocksDB writes to. Inside this folder only.
#pragma once

#include <memory>

namespace rocksdb {
class MemTableRepFactory;
}  // namespace rocksdb

namespace braid::storage {

/// A list of entries in the order of keys, for one writer and any number of readers. RocksDB's own list does the same,
/// but Debian builds it with assertions, which compare the key of every insert with its neighbours on each level again:
/// most of what an insert in the order of keys costs. An entry behind the last one that was inserted, as in a batch
/// whose keys are in order, is found with two comparisons. Needs a bytewise comparator and
/// allow_concurrent_memtable_write = false. Null if the version of RocksDB is not one that it was made for.
std::shared_ptr<rocksdb::MemTableRepFactory> NewMemtableFactory();

}  // namespace braid::storage
