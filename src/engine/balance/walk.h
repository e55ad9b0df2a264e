// Walk: the documents of a range of shard keys on one shard, in batches, while writers continue.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "engine/txn/context.h"

namespace braid::balance {

/// A range of keys in the store that holds the documents of a range of shard keys, in their order: entries of the shard
/// key's index, or the documents themselves if they are in that order.
struct KeyRange {
  storage::Range range;
  const catalog::Index* index = nullptr;  // null: documents
  size_t prefix_size = 0;                 // of the keys, before the values

  /// All of the shard's documents if the collection is not sharded. `end` empty: to the end.
  static KeyRange Of(const catalog::Collection& collection, storage::ShardNumber shard, std::string_view begin,
                     std::string_view end);
  /// The _id's key of the document at a position of the range.
  Result<std::string> IdKeyAt(const storage::Cursor& cursor) const;
  /// The shard key of the document at a position of the range, as values: {user_id: NumberLong(hash)}.
  Result<bson::Document> ShardKeyAt(const storage::Cursor& cursor, const sharding::ShardKey& key) const;
};

/// The collection as it is now, held open for one batch: its description cannot change until this is released.
class HeldCollection {
 public:
  /// kConflictingOperationInProgress if the collection is gone, or was made anew under the same name.
  static Result<HeldCollection> Open(txn::Context& context, const catalog::Namespace& ns, uint32_t number);
  const catalog::CollectionPtr& operator->() const { return collection_; }
  const catalog::CollectionPtr& get() const { return collection_; }
  /// Lets the description change from here on.
  void Release() {
    BRAID_ASSERT(!gate_.empty());
    gate_.Release();
  }

 private:
  catalog::CollectionPtr collection_;
  Gate::Pass gate_;
};

constexpr size_t kBatchDocuments = 200;

}  // namespace braid::balance
