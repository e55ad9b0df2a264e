// Records: where a document is, and how it is inserted, replaced, removed and moved there.
#include "engine/txn/records.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/key_encoding.h"
#include "engine/storage/keys.h"
#include "engine/txn/record_change.h"
#include "engine/txn/record_errors.h"

namespace braid::txn {
namespace {

using catalog::Collection;
using catalog::CollectionPtr;
using catalog::Index;

constexpr size_t kWriteSetBytesMax = 256u << 20;

Status CheckRoom(Context& context) {
  if (context.writes().bytes() < kWriteSetBytesMax) return {};
  return {Code::kTransactionTooLarge,
          StrCat("the changes to be committed together exceed ", kWriteSetBytesMax, " bytes")};
}

}  // namespace

Status CheckUnchanged(Context& context, std::string_view key, bool found, const storage::Buffer& newest) {
  if (!context.is_transaction() || context.snapshot().empty()) return {};
  storage::Buffer seen;
  BRAID_TRY(bool was_there, context.Get(key, &seen));
  if (was_there == found && (!found || seen.view() == newest.view())) return {};
  return {Code::kWriteConflict, "WriteConflict: the document was changed after the transaction began"};
}

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

/// The shards where a document may be if it is not where it was thought to be.
Result<sharding::ShardNumbers> OtherPlaces(Context& context, const Collection& collection, std::string_view id_key,
                                           storage::Buffer* buffer) {
  sharding::ShardNumbers places;
  if (!collection.placement->keeps_global_keys()) return collection.placement->Shards();
  BRAID_TRY(bool found, context.writes().Get(storage::GlobalKey(collection.number, id_key), {}, buffer));
  if (found) {
    const std::string_view bytes = buffer->view();
    if (bytes.size() != 2) return Status(Code::kStorageCorrupt, "an entry of _id over all shards is damaged");
    places.push_back(static_cast<storage::ShardNumber>(static_cast<unsigned char>(bytes[0]) << 8 |
                                                       static_cast<unsigned char>(bytes[1])));
    return places;
  }
  // Without an entry it can only be where its _id puts it, or nowhere.
  if (collection.placement->key.is_of_id()) return collection.placement->Shards();
  return places;
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
  using Found = std::optional<storage::ShardNumber>;
  const auto key_on = [&](storage::ShardNumber shard) {
    return storage::DocumentPrefix(collection.number, shard).append(id_key);
  };
  BRAID_CHECK_OK(context.Lock(key_on(storage::kNoShard)));
  std::string key = key_on(guess);
  BRAID_TRY(bool found, context.writes().Get(key, {}, out));
  storage::ShardNumber shard = guess;
  if (!found && (collection.placement->keeps_global_keys() || collection.placement->is_moving())) {
    BRAID_TRY(const sharding::ShardNumbers places, OtherPlaces(context, collection, id_key, out));
    for (const storage::ShardNumber place : places) {
      if (place == guess) continue;
      std::string other = key_on(place);
      BRAID_TRY(found, context.writes().Get(other, {}, out));
      if (!found) continue;
      shard = place;
      key = std::move(other);
      break;
    }
  }
  BRAID_CHECK_OK(CheckUnchanged(context, key, found, *out));
  return found ? Found(shard) : Found();
}

Result<std::optional<storage::ShardNumber>> ReadForChange(Context& context, const Collection& collection,
                                                          const bson::Value& id, storage::Buffer* out) {
  storage::ShardNumber guess = collection.placement->chunks.front().shard;
  if (collection.sharded() && collection.PlacedById(id)) {
    BRAID_TRY(guess, ShardFor(collection, bson::Make("_id", id)));
  }
  return ReadForChange(context, collection, IdKey(id, collection.collation.get()), guess, out);
}

Status Insert(Context& context, const CollectionPtr& collection, bson::View document, const WriteOptions& options) {
  BRAID_CHECK_OK(CheckRoom(context));
  if (!options.bypass_validation) BRAID_CHECK_OK(CheckValidator(*collection, nullptr, document));
  const bson::Value id = document.Find("_id");
  Version after{.document = &document};
  BRAID_TRY(after.shard, ShardFor(*collection, document));
  RecordChange change(context, collection, IdKey(id, collection->collation.get()));
  storage::Buffer existing;
  BRAID_TRY(const auto found, ReadForChange(context, *collection, change.id_key(), after.shard, &existing));
  if (found) {
    const bson::View standing(existing.view());
    if (!collection->IsExpired(standing, context.now_millis())) {
      return DuplicateKey(*collection, collection->indexes[0]->spec, bson::Make("0", id));
    }
    BRAID_CHECK_OK(Remove(context, collection, *found, standing));
  }
  BRAID_CHECK_OK(change.PlanAll({}, after));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument({}, after);
  return {};
}

Status Replace(Context& context, const CollectionPtr& collection, storage::ShardNumber shard, bson::View before,
               bson::View after, const WriteOptions& options) {
  BRAID_CHECK_OK(CheckRoom(context));
  if (!options.bypass_validation) BRAID_CHECK_OK(CheckValidator(*collection, &before, after));
  const Version old{&before, shard};
  Version changed{&after, shard};
  if (collection->sharded()) {
    BRAID_TRY(const std::string key, collection->placement->key.KeyOf(after));
    const sharding::Chunk& chunk = collection->placement->ChunkOf(key);
    if (!chunk.HasPart(shard)) changed.shard = chunk.shard;  // while its chunk moves it may stay where it is
  }
  RecordChange change(context, collection, IdKey(before.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, changed));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, changed);
  return {};
}

Status Remove(Context& context, const CollectionPtr& collection, storage::ShardNumber shard, bson::View before) {
  BRAID_CHECK_OK(CheckRoom(context));
  const Version old{&before, shard};
  RecordChange change(context, collection, IdKey(before.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, {}));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, {});
  return {};
}

Status Move(Context& context, const CollectionPtr& collection, storage::ShardNumber from, storage::ShardNumber to,
            bson::View document) {
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

}  // namespace braid::txn
