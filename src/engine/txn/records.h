// Records: documents of a collection with all their index entries, written through a Context.
#pragma once

#include <optional>

#include "engine/txn/context.h"

namespace braid::txn {

/// key(_id): the last part of a document's key, under the collection's collation.
std::string IdKey(const bson::Value& id, const bson::Collation* collation = nullptr);
/// The whole key of a document on its shard.
std::string DocumentKey(const catalog::Collection& collection, const bson::Value& id);

/// The newest committed version (or this context's own), locked for a change. False: there is none (the key stays
/// locked).
Result<bool> ReadForChange(Context& context, const catalog::Collection& collection, std::string_view document_key,
                           storage::Buffer* out);

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
/// document stays in the write set; its locks do. An expired document (TTL) that stands in the way of an _id or unique
/// key is removed first.
Status Insert(Context& context, const catalog::CollectionPtr& collection, bson::View document,
              const WriteOptions& options = {});
/// The caller holds the lock and has read `before`; both have the same _id. Only changed index entries are written.
Status Replace(Context& context, const catalog::CollectionPtr& collection, bson::View before, bson::View after,
               const WriteOptions& options = {});
/// The caller holds the lock and has read `before`.
Status Remove(Context& context, const catalog::CollectionPtr& collection, bson::View before);

/// What an index build does for each document: its entries in this index, written where they are not yet. The caller
/// holds the lock and has read `document`.
Status AddToIndex(Context& context, const catalog::CollectionPtr& collection,
                  const std::shared_ptr<const catalog::Index>& index, bson::View document);

}  // namespace braid::txn
