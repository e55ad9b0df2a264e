// Records: documents of a collection with all their index entries, written through a Context.
#pragma once

#include <optional>

#include "engine/txn/context.h"

namespace braid::txn {

/// key(_id): the last part of a document's key, under the collection's collation.
std::string IdKey(const bson::Value& id, const bson::Collation* collation = nullptr);
/// The whole key of a document on a shard.
std::string DocumentKey(const catalog::Collection& collection, storage::ShardNumber shard, const bson::Value& id);

/// Locks the document for a change, wherever it is, and reads its newest committed version (or this context's own).
/// Returns the shard it was found on; nothing if there is no such document (its key stays locked). `guess` is read
/// first.
Result<std::optional<storage::ShardNumber>> ReadForChange(Context& context, const catalog::Collection& collection,
                                                          std::string_view id_key, storage::ShardNumber guess,
                                                          storage::Buffer* out);
/// The same without a guess, for a known _id.
Result<std::optional<storage::ShardNumber>> ReadForChange(Context& context, const catalog::Collection& collection,
                                                          const bson::Value& id, storage::Buffer* out);

/// Locks a document that this context has just read on `shard`. True if that is its newest version, so that it need not
/// be read again: in a transaction, which gets no lock on what was changed after its snapshot, unless it has changed
/// the document itself.
Result<bool> LockNewest(Context& context, const catalog::Collection& collection, std::string_view id_key,
                        storage::ShardNumber shard);

/// An entry of an index, as keys.h draws it.
struct StoredEntry {
  std::string_view id_key;  // of the document it belongs to
  bson::View values;
};
/// Reads an entry; the views point into its arguments. The key starts with the index's prefix.
Result<StoredEntry> ReadEntry(const catalog::Index& index, std::string_view key, std::string_view value);
std::string EntryKey(const catalog::Index& index, storage::ShardNumber shard, std::string_view values_key,
                     std::string_view id_key);
std::string EntryValue(const catalog::Index& index, const bson::Document& values, std::string_view id_key);

struct WriteOptions {
  bool bypass_validation = false;
};

/// `document` has its _id first and was checked (update::PrepareForInsert). kDuplicateKey with keyPattern and keyValue
/// in the details, for _id and every unique index; kDocumentValidationFailure with errInfo. On an error nothing of this
/// document stays in the write set; its locks do. An expired document (TTL) with the same _id or unique key is removed
/// first.
Status Insert(Context& context, const catalog::CollectionPtr& collection, bson::View document,
              const WriteOptions& options = {});
/// The caller holds the lock and has read `before` on `shard`; both have the same _id. Only changed index entries are
/// written. A changed shard key takes the document to the shard where it belongs.
Status Replace(Context& context, const catalog::CollectionPtr& collection, storage::ShardNumber shard,
               bson::View before, bson::View after, const WriteOptions& options = {});
/// Where Replace() puts `after`. A document whose chunk moves may stay where it is, but none comes to the shard that
/// the chunk leaves: once nothing of the chunk is there, nothing will be.
Result<storage::ShardNumber> ShardOfChanged(const catalog::Collection& collection, storage::ShardNumber shard,
                                            bson::View before, bson::View after);
/// The caller holds the lock and has read `before` on `shard`.
Status Remove(Context& context, const catalog::CollectionPtr& collection, storage::ShardNumber shard,
              bson::View before);
/// The caller holds the lock and has read the document on `from`: it is on `to` afterwards, with all its entries.
Status Move(Context& context, const catalog::CollectionPtr& collection, storage::ShardNumber from,
            storage::ShardNumber to, bson::View document);

/// Used by an index build for each document: writes its missing entries in this index. The caller holds the lock and
/// has read `document` on `shard`.
Status AddToIndex(Context& context, const catalog::CollectionPtr& collection,
                  const std::shared_ptr<const catalog::Index>& index, storage::ShardNumber shard, bson::View document);
/// Used by the preparation of sharding for each document: writes the entries that keep _id and unique keys unique over
/// all shards. kDuplicateKey is not possible, because they were unique on the one shard.
Status AddGlobalKeys(Context& context, const catalog::CollectionPtr& collection, storage::ShardNumber shard,
                     bson::View document);

}  // namespace braid::txn
