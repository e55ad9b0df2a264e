// Records: every write first computes and checks everything, locks included, and then writes: so an error leaves
// nothing of the document behind.
#include "engine/txn/records.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/key_encoding.h"
#include "engine/catalog/index_keys.h"
#include "engine/storage/keys.h"
#include "engine/txn/record_errors.h"

namespace braid::txn {
namespace {

using catalog::Collection;
using catalog::CollectionPtr;
using catalog::Index;
using catalog::IndexEntries;
using catalog::IndexEntry;

constexpr size_t kWriteSetBytesMax = 1u << 30;

/// Where a version of a document is, or is to be.
struct Version {
  const bson::View* document = nullptr;  // null: there is no such version
  storage::ShardNumber shard = 0;
};

/// What a write changes in one index.
struct IndexChange {
  std::shared_ptr<const Index> index;
  std::vector<std::string> removed;         // keys, whole
  std::vector<std::string> removed_if_own;  // of a unique index being built: may belong to another document
  std::vector<IndexEntry> added;            // key: whole
  std::vector<std::string> claimed;         // keys of the index over all shards (keys.h 'u'), whole
  std::vector<std::string> released;
  uint64_t multikey = 0;
};

/// Everything that one write of a document takes with it.
class Change {
 public:
  Change(Context& context, const CollectionPtr& collection, std::string id_key)
      : context_(context), collection_(collection), id_key_(std::move(id_key)) {}

  Status Plan(const std::shared_ptr<const Index>& index, const Version& before, const Version& after);
  Status PlanAll(const Version& before, const Version& after);
  Status Write();
  /// Document, its place over all shards, counters.
  void WriteDocument(const Version& before, const Version& after);
  /// Only the keys that are unique over all shards.
  Status WriteGlobalKeys(const Version& document);
  const std::string& id_key() const { return id_key_; }

 private:
  Result<IndexEntries> EntriesOf(const Index& index, const bson::View* document) const;
  Status CheckUnique(const Index& index, const IndexEntry& entry, const std::string& key, bool* skip);
  Status ClaimGlobally(const Index& index, const IndexEntry& entry, IndexChange* change, bool* skip);
  Status WriteMultikey(const IndexChange& change);
  std::string DocumentKeyOn(storage::ShardNumber shard) const {
    return storage::DocumentPrefix(collection_->number, shard).append(id_key_);
  }

  Context& context_;
  const CollectionPtr& collection_;
  const std::string id_key_;
  std::vector<IndexChange> changes_;
  storage::Buffer buffer_;
};

/// True if both versions have the same single key: what most updates leave every index but one with.
bool SamePlainKey(const catalog::IndexSpec& spec, const bson::View* before, const bson::View* after) {
  if (before == nullptr || after == nullptr || spec.partial_filter) return false;
  std::array<bson::Value, query::KeyPaths::kPathsMax> a;
  std::array<bson::Value, query::KeyPaths::kPathsMax> b;
  if (!spec.paths.PlainKey(*before, a) || !spec.paths.PlainKey(*after, b)) return false;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if (!a[i].Identical(b[i])) return false;
  }
  return true;
}

Result<IndexEntries> Change::EntriesOf(const Index& index, const bson::View* document) const {
  if (document == nullptr) return IndexEntries{};
  Result<IndexEntries> entries = catalog::MakeEntries(index.spec, *document);
  if (!entries.ok() && index.building) {
    index.FailBuild(entries.error());
    return IndexEntries{};
  }
  return entries;
}

/// `key` is that of the entry on its shard, or of the index over all shards. The value names the owner.
Status Change::CheckUnique(const Index& index, const IndexEntry& entry, const std::string& key, bool* skip) {
  BRAID_CHECK_OK(context_.Lock(key));
  BRAID_TRY(bool found, context_.writes().Get(key, {}, &buffer_));
  if (!found) return {};
  std::string owner(buffer_.view());
  if (!collection_->placement->keeps_global_keys()) {
    BRAID_TRY(StoredEntry stored, ReadEntry(index, key, buffer_.view()));
    owner = std::string(stored.id_key);
  }
  if (owner == id_key_) return {};
  if (collection_->has_ttl()) {
    storage::Buffer document;
    const storage::ShardNumber guess = collection_->placement->chunks.front().shard;
    BRAID_TRY(auto shard, ReadForChange(context_, *collection_, owner, guess, &document));
    if (shard && collection_->IsExpired(bson::View(document.view()), context_.now_millis())) {
      return Remove(context_, collection_, *shard, bson::View(document.view()));
    }
  }
  const Status duplicate = DuplicateKey(*collection_, index.spec, entry.values);
  if (!index.building) return duplicate;
  index.FailBuild(duplicate);
  *skip = true;
  return {};
}

Status Change::ClaimGlobally(const Index& index, const IndexEntry& entry, IndexChange* change, bool* skip) {
  std::string key = storage::GlobalKey(index.number, entry.key);
  BRAID_CHECK_OK(CheckUnique(index, entry, key, skip));
  if (!*skip) change->claimed.push_back(std::move(key));
  return {};
}

Status Change::Plan(const std::shared_ptr<const Index>& index, const Version& before, const Version& after) {
  const bool moves = before.document != nullptr && after.document != nullptr && before.shard != after.shard;
  if (!moves && SamePlainKey(index->spec, before.document, after.document)) return {};
  BRAID_TRY(IndexEntries old_entries, EntriesOf(*index, before.document));
  BRAID_TRY(IndexEntries new_entries, EntriesOf(*index, after.document));
  const bool global = index->spec.unique && collection_->placement->keeps_global_keys();
  IndexChange change{.index = index, .multikey = new_entries.multikey};
  auto& removed = index->building && index->spec.unique ? change.removed_if_own : change.removed;
  auto old_entry = old_entries.entries.begin();
  const auto remove_up_to = [&](const IndexEntry* end) {
    for (; old_entry != old_entries.entries.end() && (end == nullptr || old_entry->key < end->key); ++old_entry) {
      removed.push_back(EntryKey(*index, before.shard, old_entry->key, id_key_));
      if (global) change.released.push_back(storage::GlobalKey(index->number, old_entry->key));
    }
  };
  for (IndexEntry& entry : new_entries.entries) {
    remove_up_to(&entry);
    const bool same_key = old_entry != old_entries.entries.end() && old_entry->key == entry.key;
    const bool same = same_key && !moves && old_entry->values.bytes() == entry.values.bytes();
    if (same_key && moves) removed.push_back(EntryKey(*index, before.shard, old_entry->key, id_key_));
    if (same_key) ++old_entry;
    if (same) continue;
    std::string key = EntryKey(*index, after.shard, entry.key, id_key_);
    bool skip = false;
    if (index->spec.unique && (!same_key || index->building)) {
      BRAID_CHECK_OK(global ? ClaimGlobally(*index, entry, &change, &skip) : CheckUnique(*index, entry, key, &skip));
    }
    if (!skip) change.added.push_back({std::move(key), std::move(entry.values)});
  }
  remove_up_to(nullptr);
  if ((change.multikey & ~index->multikey_stored.load()) != 0) {
    BRAID_CHECK_OK(context_.Lock(storage::MultikeyKey(index->number)));
  }
  changes_.push_back(std::move(change));
  return {};
}

Status Change::PlanAll(const Version& before, const Version& after) {
  for (const auto& index : collection_->indexes) {
    if (index->number != 0) BRAID_CHECK_OK(Plan(index, before, after));
  }
  return {};
}

Status Change::WriteMultikey(const IndexChange& change) {
  if ((change.multikey & ~change.index->multikey_stored.load()) == 0) return {};
  const std::string key = storage::MultikeyKey(change.index->number);
  uint64_t bits = 0;
  BRAID_TRY(bool found, context_.writes().Get(key, {}, &buffer_));
  if (found) std::memcpy(&bits, buffer_.view().data(), std::min<size_t>(8, buffer_.view().size()));
  bits |= change.multikey;
  context_.writes().Put(key, {reinterpret_cast<const char*>(&bits), 8});
  context_.NoteMultikey(change.index, bits);
  return {};
}

Status Change::Write() {
  storage::WriteSet& writes = context_.writes();
  for (const IndexChange& change : changes_) {
    BRAID_CHECK_OK(WriteMultikey(change));
    for (const std::string& key : change.removed) writes.Delete(key);
    for (const std::string& key : change.removed_if_own) {
      BRAID_TRY(bool found, writes.Get(key, {}, &buffer_));
      if (!found) continue;
      BRAID_TRY(StoredEntry stored, ReadEntry(*change.index, key, buffer_.view()));
      if (stored.id_key == id_key_) writes.Delete(key);
    }
    for (const std::string& key : change.released) {
      // Of an index being built the key may be another document's.
      BRAID_TRY(bool found, writes.Get(key, {}, &buffer_));
      if (found && buffer_.view() == id_key_) writes.Delete(key);
    }
    for (const IndexEntry& entry : change.added)
      writes.Put(entry.key, EntryValue(*change.index, entry.values, id_key_));
    for (const std::string& key : change.claimed) writes.Put(key, id_key_);
  }
  return {};
}

std::string ShardBytes(storage::ShardNumber shard) {
  return {static_cast<char>(shard >> 8), static_cast<char>(shard & 0xff)};
}

void Change::WriteDocument(const Version& before, const Version& after) {
  storage::WriteSet& writes = context_.writes();
  const bool moves = before.document != nullptr && after.document != nullptr && before.shard != after.shard;
  if (before.document != nullptr && (after.document == nullptr || moves)) writes.Delete(DocumentKeyOn(before.shard));
  if (after.document != nullptr) writes.Put(DocumentKeyOn(after.shard), after.document->bytes());
  const bson::View any = after.document != nullptr ? *after.document : *before.document;
  if (collection_->placement->keeps_global_keys() && !collection_->PlacedById(any.Find("_id"))) {
    const std::string key = storage::GlobalKey(collection_->number, id_key_);
    if (after.document == nullptr) {
      writes.Delete(key);
    } else if (before.document == nullptr || moves) {
      writes.Put(key, ShardBytes(after.shard));
    }
  }
  const auto count = [this](const Version& version, int sign) {
    if (version.document == nullptr) return;
    context_.CountDocument(collection_, version.shard, sign, sign * static_cast<int64_t>(version.document->size()));
  };
  count(before, -1);
  count(after, 1);
}

Status Change::WriteGlobalKeys(const Version& document) {
  storage::WriteSet& writes = context_.writes();
  if (!collection_->PlacedById(document.document->Find("_id"))) {
    writes.Put(storage::GlobalKey(collection_->number, id_key_), ShardBytes(document.shard));
  }
  for (const auto& index : collection_->indexes) {
    if (!index->spec.unique || index->number == 0) continue;
    BRAID_TRY(const IndexEntries entries, EntriesOf(*index, document.document));
    for (const IndexEntry& entry : entries.entries) writes.Put(storage::GlobalKey(index->number, entry.key), id_key_);
  }
  return {};
}

Status CheckRoom(Context& context) {
  if (context.writes().bytes() < kWriteSetBytesMax) return {};
  return {Location(257), StrCat("the changes to be committed together exceed ", kWriteSetBytesMax, " bytes")};
}

/// A transaction changes only what is still as its snapshot shows it.
Status CheckUnchanged(Context& context, std::string_view key, bool found, const storage::Buffer& newest) {
  if (!context.is_transaction() || context.snapshot().empty()) return {};
  storage::Buffer seen;
  BRAID_TRY(bool was_there, context.Get(key, &seen));
  if (was_there == found && (!found || seen.view() == newest.view())) return {};
  return {Code::kWriteConflict, "WriteConflict: the document was changed after the transaction began"};
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
  Change change(context, collection, IdKey(id, collection->collation.get()));
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
  Change change(context, collection, IdKey(before.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, changed));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, changed);
  return {};
}

Status Remove(Context& context, const CollectionPtr& collection, storage::ShardNumber shard, bson::View before) {
  BRAID_CHECK_OK(CheckRoom(context));
  const Version old{&before, shard};
  Change change(context, collection, IdKey(before.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, {}));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, {});
  return {};
}

Status Move(Context& context, const CollectionPtr& collection, storage::ShardNumber from, storage::ShardNumber to,
            bson::View document) {
  const Version old{&document, from};
  const Version moved{&document, to};
  Change change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.PlanAll(old, moved));
  BRAID_CHECK_OK(change.Write());
  change.WriteDocument(old, moved);
  return {};
}

Status AddToIndex(Context& context, const CollectionPtr& collection, const std::shared_ptr<const Index>& index,
                  storage::ShardNumber shard, bson::View document) {
  Change change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  BRAID_CHECK_OK(change.Plan(index, {}, {&document, shard}));
  return change.Write();
}

Status AddGlobalKeys(Context& context, const CollectionPtr& collection, storage::ShardNumber shard,
                     bson::View document) {
  Change change(context, collection, IdKey(document.Find("_id"), collection->collation.get()));
  return change.WriteGlobalKeys({&document, shard});
}

}  // namespace braid::txn
