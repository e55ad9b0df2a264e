#include "engine/balance/walk.h"

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/storage/keys.h"
#include "engine/txn/records.h"

namespace braid::balance {

KeyRange KeyRange::Of(const catalog::Collection& collection, storage::ShardNumber shard, std::string_view begin,
                      std::string_view end) {
  KeyRange keys;
  const catalog::Index* index =
      collection.sharded() ? collection.ShardKeyIndex(collection.placement->key) : collection.indexes.front().get();
  BRAID_ASSERT(index != nullptr);
  if (index->number != 0) keys.index = index;
  const std::string prefix = keys.index != nullptr ? storage::IndexPrefix(index->number, shard)
                                                   : storage::DocumentPrefix(collection.number, shard);
  keys.prefix_size = prefix.size();
  keys.range.begin = prefix + std::string(begin);
  BRAID_ASSERT(end.empty() || begin <= end);
  keys.range.end = end.empty() ? storage::PrefixEnd(prefix) : prefix + std::string(end);
  return keys;
}

Result<std::string> KeyRange::IdKeyAt(const storage::Cursor& cursor) const {
  BRAID_ASSERT(cursor.Valid());
  if (index == nullptr) return std::string(cursor.key().substr(prefix_size));
  BRAID_TRY(const txn::StoredEntry entry, txn::ReadEntry(*index, cursor.key(), cursor.value()));
  return std::string(entry.id_key);
}

Result<bson::Document> KeyRange::ShardKeyAt(const storage::Cursor& cursor, const sharding::ShardKey& key) const {
  BRAID_ASSERT(cursor.Valid());
  if (index == nullptr) return key.ValuesOf(bson::View(cursor.value()));
  BRAID_TRY(const txn::StoredEntry entry, txn::ReadEntry(*index, cursor.key(), cursor.value()));
  bson::Builder out;
  for (size_t i = 0; i < key.fields().size(); ++i) {
    const bson::Value value = entry.values.Find(StrCat(i));
    if (value.missing()) {
      out.Append(key.fields()[i].path, bson::Null{});
    } else {
      out.Append(key.fields()[i].path, value);
    }
  }
  return out.Finish();
}

Result<HeldCollection> HeldCollection::Open(txn::Context& context, const catalog::Namespace& ns, uint32_t number) {
  const catalog::Catalog& catalog = context.shared().catalog;
  HeldCollection held;
  while (true) {
    held.collection_ = catalog.Find(ns);
    if (held.collection_ == nullptr || held.collection_->number != number) {
      return Status(Code::kConflictingOperationInProgress, StrCat(ns.ToString(), " was dropped or renamed meanwhile"));
    }
    BRAID_TRY(held.gate_, held.collection_->state->gate.Share(context.operation()));
    if (catalog.Find(ns) == held.collection_) return held;
    held.gate_.Release();  // it changed before we had the gate
  }
}

}  // namespace braid::balance
