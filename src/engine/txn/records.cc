// Records: where a document is, and how it is inserted, replaced, removed and moved there; the form of index entries.
#include "engine/txn/records.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/key_encoding.h"
#include "engine/storage/keys.h"
#include "engine/txn/insert_batch.h"
#include "engine/txn/record_change.h"

namespace braid::txn {
namespace {

using catalog::Collection;
using catalog::CollectionPtr;
using catalog::Index;

constexpr size_t kWriteSetBytesMax = 256u << 20;

/// Before `bytes` more are added.
Status CheckRoom(Context& context, size_t bytes) {
  if (context.writes().bytes() < kWriteSetBytesMax) return context.ChargeWrites(bytes);
  return {Code::kTransactionTooLarge,
          StrCat("the changes to be committed together exceed ", kWriteSetBytesMax, " bytes")};
}

}  // namespace

std::string IdKey(const bson::Value& id, const bson::Collation* collation) {
  std::string key;
  bson::AppendKey(&key, id, false, collation);
  return key;
}

std::string DocumentKey(const Collection& collection, storage::ShardNumber shard, const bson::Value& id) {
  std::string key = storage::DocumentPrefix(collection.number, shard);
  bson::AppendKey(&key, id, false, collection.collation.get());
  return key;
}

namespace {

/// The shard that the entry of an _id over all shards names; nothing if there is none.
Result<std::optional<storage::ShardNumber>> GlobalPlace(Context& context, const Collection& collection,
                                                        std::string_view id_key, storage::Buffer* buffer) {
  using Place = std::optional<storage::ShardNumber>;
  const std::string key = storage::GlobalKey(collection.number, id_key);
  BRAID_TRY(const bool found, context.writes().Get(key, {}, buffer));
  if (!found) return Place();
  const std::string_view bytes = buffer->view();
  if (bytes.size() != 2) return Status(Code::kStorageCorrupt, "an entry of _id over all shards is damaged");
  return Place(static_cast<storage::ShardNumber>(static_cast<unsigned char>(bytes[0]) << 8 |
                                                 static_cast<unsigned char>(bytes[1])));
}

/// The shards where a document may be if it is not on the expected one.
Result<sharding::ShardNumbers> OtherPlaces(Context& context, const Collection& collection, std::string_view id_key,
                                           storage::Buffer* buffer) {
  if (!collection.placement->keeps_global_keys()) return collection.placement->Shards();
  BRAID_TRY(const auto place, GlobalPlace(context, collection, id_key, buffer));
  if (place) return sharding::ShardNumbers{*place};
  // Without an entry it can only be on the shard that follows from its _id, or not exist.
  return collection.placement->key.is_of_id() ? collection.placement->Shards() : sharding::ShardNumbers();
}

/// The shards where the document of an _id can be: at most two, the chunk's and the one it comes from.
Result<sharding::ShardNumbers> PlacesOf(Context& context, const Collection& collection, const bson::Value& id,
                                        std::string_view id_key, storage::Buffer* buffer) {
  const sharding::Placement& placement = *collection.placement;
  const sharding::Chunk* chunk = &placement.chunks.front();
  if (placement.sharded()) {
    if (!collection.PlacedById(id)) {
      BRAID_TRY(const auto place, GlobalPlace(context, collection, id_key, buffer));
      return place ? sharding::ShardNumbers{*place} : sharding::ShardNumbers();
    }
    BRAID_TRY(const std::string key, placement.key.KeyOf(bson::Make("_id", id)));
    chunk = &placement.ChunkOf(key);
  }
  sharding::ShardNumbers places{chunk->shard};
  if (chunk->from) places.push_back(*chunk->from);
  return places;
}

std::string KeyOn(const Collection& collection, storage::ShardNumber shard, std::string_view id_key) {
  return storage::DocumentPrefix(collection.number, shard).append(id_key);
}

/// Reads the newest version on the first of the shards that has it. In a transaction it is that of its snapshot,
/// because the document could be locked: every writer of it holds the same lock.
Result<std::optional<storage::ShardNumber>> ReadOn(Context& context, const Collection& collection,
                                                   std::string_view id_key, const sharding::ShardNumbers& places,
                                                   storage::Buffer* out) {
  for (const storage::ShardNumber place : places) {
    const std::string key = KeyOn(collection, place, id_key);
    BRAID_TRY(const bool found, context.writes().Get(key, {}, out));
    if (found) return std::optional(place);
  }
  return std::optional<storage::ShardNumber>();
}

Result<storage::ShardNumber> ShardFor(const Collection& collection, bson::View document) {
  if (!collection.sharded()) return collection.placement->chunks.front().shard;
  BRAID_TRY(const std::string key, collection.placement->key.KeyOf(document));
  return collection.placement->ChunkOf(key).shard;
}

}  // namespace

Result<std::optional<storage::ShardNumber>> ReadForChange(Context& context, const Collection& collection,
                                                          std::string_view id_key, storage::ShardNumber guess,
                                                          storage::Buffer* out) {
  BRAID_CHECK_OK(context.Lock(KeyOn(collection, storage::kNoShard, id_key)));
  BRAID_TRY(const auto there, ReadOn(context, collection, id_key, {guess}, out));
  if (there || !(collection.placement->keeps_global_keys() || collection.placement->is_moving())) return there;
  BRAID_TRY(sharding::ShardNumbers places, OtherPlaces(context, collection, id_key, out));
  std::erase(places, guess);
  return ReadOn(context, collection, id_key, places, out);
}

Result<std::optional<storage::ShardNumber>> ReadForChange(Context& context, const Collection& collection,
                                                          const bson::Value& id, storage::Buffer* out) {
  const std::string id_key = IdKey(id, collection.collation.get());
  BRAID_CHECK_OK(context.Lock(KeyOn(collection, storage::kNoShard, id_key)));
  BRAID_TRY(const sharding::ShardNumbers places, PlacesOf(context, collection, id, id_key, out));
  return ReadOn(context, collection, id_key, places, out);
}

Result<bool> LockNewest(Context& context, const Collection& collection, std::string_view id_key,
                        storage::ShardNumber shard) {
  BRAID_CHECK_OK(context.Lock(KeyOn(collection, storage::kNoShard, id_key)));
  if (!context.is_transaction() || context.snapshot().empty()) return false;
  return !context.writes().HasChange(KeyOn(collection, shard, id_key));
}

namespace {

/// kDuplicateKey if there is a document of this _id, which is locked. An expired one is removed.
Status CheckIdUnused(Context& context, const CollectionPtr& collection, const bson::Value& id) {
  storage::Buffer existing;
  BRAID_TRY(const auto found, ReadForChange(context, *collection, id, &existing));
  if (!found) return {};
  const bson::View standing(existing.view());
  if (!collection->IsExpired(standing, context.now_millis())) {
    return DuplicateKey(*collection, collection->indexes[0]->spec, bson::Make("0", id));
  }
  return Remove(context, collection, *found, standing);
}

}  // namespace

Status Insert(InsertBatch& batch, Context& context, const CollectionPtr& collection, bson::View document,
              const WriteOptions& options) {
  BRAID_CHECK_OK(CheckRoom(context, document.size()));
  if (!options.bypass_validation) BRAID_CHECK_OK(CheckValidator(*collection, nullptr, document));
  const bson::Value id = document.Find("_id");
  Version after{.document = &document};
  BRAID_TRY(after.shard, ShardFor(*collection, document));
  RecordChange change(context, collection, IdKey(id, collection->collation.get()));
  batch.lock_key = storage::DocumentPrefix(collection->number, storage::kNoShard);
  BRAID_CHECK_OK(context.Lock(batch.lock_key.append(change.id_key())));
  BRAID_TRY(const bool is_free, batch.IsFree(*collection, change.id_key()));
  if (!is_free) BRAID_CHECK_OK(CheckIdUnused(context, collection, id));
  if (!change.WritePlainEntries(after, batch)) {
    BRAID_CHECK_OK(change.PlanAll({}, after));
    BRAID_CHECK_OK(change.Write());
  }
  change.WriteDocument({}, after);
  return {};
}

Status Insert(Context& context, const CollectionPtr& collection, bson::View document, const WriteOptions& options) {
  InsertBatch alone(context);
  alone.UseLookUps();
  return Insert(alone, context, collection, document, options);
}

Result<storage::ShardNumber> ShardOfChanged(const Collection& collection, storage::ShardNumber shard, bson::View before,
                                            bson::View after) {
  if (!collection.sharded()) return shard;
  const sharding::Placement& placement = *collection.placement;
  BRAID_TRY(const std::string key, placement.key.KeyOf(after));
  const sharding::Chunk& chunk = placement.ChunkOf(key);
  if (chunk.shard == shard || chunk.from != shard) return chunk.shard;
  BRAID_TRY(const std::string key_before, placement.key.KeyOf(before));
  return &placement.ChunkOf(key_before) == &chunk ? shard : chunk.shard;
}

Status Replace(Context& context, const CollectionPtr& collection, storage::ShardNumber shard, bson::View before,
               bson::View after, const WriteOptions& options) {
  BRAID_CHECK_OK(CheckRoom(context, after.size()));
  if (!options.bypass_validation) BRAID_CHECK_OK(CheckValidator(*collection, &before, after));
  const Version old{&before, shard};
  Version changed{&after};
  BRAID_TRY(changed.shard, ShardOfChanged(*collection, shard, before, after));
  RecordChange change(context, collection, IdKey(before.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, changed));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, changed);
  return {};
}

Status Remove(Context& context, const CollectionPtr& collection, storage::ShardNumber shard, bson::View before) {
  BRAID_CHECK_OK(CheckRoom(context, 0));
  const Version old{&before, shard};
  RecordChange change(context, collection, IdKey(before.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, {}));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, {});
  return {};
}

Status Move(Context& context, const CollectionPtr& collection, storage::ShardNumber from, storage::ShardNumber to,
            bson::View document) {
  BRAID_ASSERT(from != to);
  const Version old{&document, from};
  const Version moved{&document, to};
  RecordChange change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, moved));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, moved);
  return {};
}

Status AddToIndex(Context& context, const CollectionPtr& collection, const std::shared_ptr<const Index>& index,
                  storage::ShardNumber shard, bson::View document) {
  RecordChange change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.Plan(index, {}, {&document, shard}));
  return change.Write();
}

Status AddGlobalKeys(Context& context, const CollectionPtr& collection, storage::ShardNumber shard,
                     bson::View document) {
  RecordChange change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  return change.WriteGlobalKeys({&document, shard});
}

std::string EntryKey(const catalog::Index& index, storage::ShardNumber shard, std::string_view values_key,
                     std::string_view id_key) {
  BRAID_ASSERT(shard != storage::kNoShard);
  std::string key = storage::IndexPrefix(index.number, shard);
  key.append(values_key);
  if (!index.spec.unique) key.append(id_key);
  return key;
}

std::string EntryValue(const catalog::Index& index, const bson::Document& values, std::string_view id_key) {
  const auto size = static_cast<uint32_t>(id_key.size());
  std::string value;
  value.reserve(4 + id_key.size() + values.bytes().size());
  value.append(reinterpret_cast<const char*>(&size), 4);
  if (index.spec.unique) value.append(id_key);
  return value.append(values.bytes());
}

Result<StoredEntry> ReadEntry(const catalog::Index& index, std::string_view key, std::string_view value) {
  uint32_t size = 0;
  const size_t id_at = index.spec.unique ? 4 : 0;  // in the value or, if 0, at the end of the key
  if (value.size() >= 4) std::memcpy(&size, value.data(), 4);
  const size_t values_at = 4 + (id_at != 0 ? size : 0);
  if (value.size() < values_at + 5 || (id_at == 0 && key.size() < size)) {
    return Status(Code::kStorageCorrupt, StrCat("damaged entry of index ", index.spec.name, ": key ", Hex(key)));
  }
  const std::string_view id_key = id_at != 0 ? value.substr(4, size) : key.substr(key.size() - size);
  return StoredEntry{id_key, bson::View(value.substr(values_at))};
}

}  // namespace braid::txn
