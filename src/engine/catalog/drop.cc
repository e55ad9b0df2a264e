// Catalog: drops, renames and their completion after a crash; loading.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/big_endian.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "engine/catalog/catalog.h"

namespace braid::catalog {
namespace {

constexpr std::string_view kStagingPrefix = "tmp.agg_out.";

bool IsStaging(std::string_view collection) {
  if (!collection.starts_with(kStagingPrefix)) return false;
  const std::string_view digits = collection.substr(kStagingPrefix.size());
  return digits.size() == 24 && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Of the collection or index that a key belongs to; it follows the letter.
uint32_t NumberIn(std::string_view key) { return static_cast<uint32_t>(big_endian::Get(key.substr(1, 4))); }

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<size_t>(8, bytes.size()));
  return value;
}

}  // namespace

std::vector<Catalog::Leftover> Catalog::LeftoversOf(const Collection& collection) {
  std::vector<Leftover> leftovers{{collection.number, false}};
  for (const auto& index : collection.indexes) {
    if (index->number != 0) leftovers.push_back({index->number, true});
  }
  return leftovers;
}

void Catalog::Note(storage::WriteSet& writes, const std::vector<Leftover>& leftovers) const {
  for (const Leftover& leftover : leftovers) {
    writes.Put(storage::PendingDropKey(leftover.number, leftover.index), "");
  }
}

Status Catalog::Collect(const std::vector<Leftover>& leftovers) {
  storage::WriteSet done(store_);
  for (const auto& [number, index] : leftovers) {
    if (index) {
      BRAID_CHECK_OK(store_.DeleteRange(storage::IndexRange(number)));
      done.Delete(storage::MultikeyKey(number));
    } else {
      BRAID_CHECK_OK(store_.DeleteRange(storage::DocumentRange(number)));
      BRAID_CHECK_OK(store_.DeleteRange(storage::CounterRange(number)));
    }
    BRAID_CHECK_OK(store_.DeleteRange(storage::GlobalRange(number)));
    done.Delete(storage::PendingDropKey(number, index));
  }
  return store_.Commit(done).status();
}

Result<Catalog::Change> Catalog::Drop(const Namespace& ns, Waiter* waiter) {
  Change change;
  {
    const Held held(*this, ns, waiter);
    BRAID_CHECK_OK(held.status());
    change.collection = held.collection();
    if (change.collection == nullptr) return change;
    storage::WriteSet writes(store_);
    writes.Delete(storage::CatalogKey(ns.database, ns.collection));
    Note(writes, LeftoversOf(*change.collection));
    BRAID_TRY(change.position, store_.Commit(writes));
    change.collection->state->dropped = true;
    Hide(ns);
  }
  BRAID_CHECK_OK(Collect(LeftoversOf(*change.collection)));
  return change;
}

Result<Catalog::Change> Catalog::Rename(const Namespace& from, const Namespace& to, bool drop_target, Waiter* waiter) {
  if (from == to) return Status(Code::kIllegalOperation, "Can't rename a collection to itself");
  const auto allowed = [&](const CollectionPtr& target) -> Status {
    if (target == nullptr || drop_target) return {};
    return {Code::kNamespaceExists, StrCat("target namespace exists: ", to.ToString())};
  };
  return RenameIf(from, to, allowed, waiter);
}

Namespace Catalog::NewStaging(std::string_view database) {
  return {std::string(database), StrCat(kStagingPrefix, Hex(std::string_view(bson::ObjectId::Generate().bytes, 12)))};
}

Result<Catalog::Change> Catalog::TakePlace(const Namespace& staging, const Namespace& target,
                                           const CollectionPtr& replaced, Waiter* waiter) {
  const auto allowed = [&](const CollectionPtr& now) -> Status {
    if (now == replaced) return {};
    return {Code::kCommandFailed, StrCat("the collection ", target.ToString(),
                                         " was created, changed or dropped while its replacement was made")};
  };
  return RenameIf(staging, target, allowed, waiter);
}

Status Catalog::DropStaging() {
  for (const CollectionPtr& collection : All()) {
    if (IsStaging(collection->ns.collection)) BRAID_CHECK_OK(Drop(collection->ns));
  }
  return {};
}

Result<Catalog::Change> Catalog::RenameIf(const Namespace& from, const Namespace& to,
                                          const std::function<Status(const CollectionPtr&)>& allowed, Waiter* waiter) {
  while (true) {
    Change change;
    const CollectionPtr source = Find(from);
    const CollectionPtr target = Find(to);
    if (source == nullptr) {
      return Status(Code::kNamespaceNotFound, StrCat("Source collection ", from.ToString(), " does not exist"));
    }
    // Renamed by another one between the two looks: to close its gate twice would wait for ever.
    if (target != nullptr && target->state == source->state) continue;
    BRAID_CHECK_OK(allowed(target));
    {
      // In the order of their numbers, as a transaction takes the gates of what it has written.
      const bool target_first = target != nullptr && target->number < source->number;
      BRAID_TRY(const Gate::Pass first_gate, CloseGate(target_first ? *target->state : *source->state, waiter));
      Gate::Pass second_gate;
      if (target != nullptr) {
        BRAID_TRY(second_gate, CloseGate(target_first ? *source->state : *target->state, waiter));
      }
      const MutexLock lock(change_mu_);
      if (Find(from) != source || Find(to) != target) continue;
      BRAID_TRY(change, RenameHeld(*source, to, target));
    }
    if (target != nullptr) BRAID_CHECK_OK(Collect(LeftoversOf(*target)));
    return change;
  }
}

// Both gates are held exclusively.
Result<Catalog::Change> Catalog::RenameHeld(const Collection& source, const Namespace& to,
                                            const CollectionPtr& target) {
  BRAID_ASSERT(source.ns != to);
  auto renamed = std::make_shared<Collection>(source);
  renamed->ns = to;
  storage::WriteSet writes(store_);
  writes.Delete(storage::CatalogKey(source.ns.database, source.ns.collection));
  Describe(writes, *renamed);
  if (target != nullptr) Note(writes, LeftoversOf(*target));
  Change change;
  BRAID_TRY(change.position, store_.Commit(writes));
  renamed->named_at = change.position;
  if (target != nullptr) target->state->dropped = true;
  const WriterLock shown(mu_);
  const size_t hidden = map_.erase(source.ns);
  BRAID_ASSERT(hidden == 1);
  map_[to] = renamed;
  change.collection = std::move(renamed);
  return change;
}

Result<Catalog::Change> Catalog::RemoveIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers,
                                               Waiter* waiter) {
  std::vector<Leftover> leftovers;
  const auto remove = [&](Collection* collection, storage::WriteSet& writes) -> Status {
    std::erase_if(collection->indexes, [&](const auto& index) {
      const bool gone = index->number != 0 && std::find(numbers.begin(), numbers.end(), index->number) != numbers.end();
      if (gone) leftovers.push_back({index->number, true});
      return gone;
    });
    Note(writes, leftovers);
    return {};
  };
  BRAID_TRY(Change change, Replace(ns, remove, waiter));
  BRAID_CHECK_OK(Collect(leftovers));
  return change;
}

Result<std::unique_ptr<Catalog>> Catalog::Load(storage::Store& store, uint32_t shards) {
  std::unique_ptr<Catalog> catalog(new Catalog(store));
  BRAID_CHECK_OK(catalog->LoadCluster(shards));
  BRAID_TRY(int64_t last, store.ReadCounter(storage::NumberKey(), {}));
  {
    const MutexLock lock(catalog->change_mu_);
    catalog->last_number_ = static_cast<uint32_t>(last);
  }
  BRAID_CHECK_OK(catalog->LoadDescriptions());
  BRAID_CHECK_OK(catalog->FinishDrops());
  BRAID_CHECK_OK(catalog->LoadFigures());
  BRAID_CHECK_OK(catalog->DropStaging());
  return catalog;
}

Status Catalog::LoadDescriptions() {
  storage::WriteSet repairs(store_);
  const auto cursor = store_.NewCursor(storage::CatalogRange(), {});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    const std::string_view name = cursor->key().substr(1);
    const size_t zero = name.find('\0');
    if (zero == std::string_view::npos) return {Code::kStorageCorrupt, StrCat("bad catalogue key ", Hex(name))};
    Namespace ns{std::string(name.substr(0, zero)), std::string(name.substr(zero + 1))};
    BRAID_TRY(auto collection, ParseDescription(std::move(ns), bson::View(cursor->value())));
    // An index build that did not end is undone.
    std::vector<Leftover> unfinished;
    std::erase_if(collection->indexes, [&unfinished](const auto& index) {
      if (index->building) unfinished.push_back({index->number, true});
      return index->building;
    });
    const bool preparing = collection->placement->preparing;
    if (preparing) {
      collection->placement = std::make_shared<sharding::Placement>(
          sharding::Placement::OnOneShard(collection->placement->chunks.front().shard));
      BRAID_CHECK_OK(store_.DeleteRange(storage::GlobalRange(collection->number)));
      for (const auto& index : collection->indexes) {
        if (index->number != 0) BRAID_CHECK_OK(store_.DeleteRange(storage::GlobalRange(index->number)));
      }
    }
    if (!unfinished.empty() || preparing) {
      Note(repairs, unfinished);
      Describe(repairs, *collection);
    }
    const WriterLock lock(mu_);
    map_[collection->ns] = std::move(collection);
  }
  BRAID_CHECK_OK(cursor->status());
  return store_.Commit(repairs).status();
}

Status Catalog::FinishDrops() {
  std::vector<Leftover> leftovers;
  const auto cursor = store_.NewCursor(storage::PendingDropRange(), {});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    leftovers.push_back({NumberIn(cursor->key()), cursor->key().back() == 'i'});
  }
  BRAID_CHECK_OK(cursor->status());
  return Collect(leftovers);
}

Status Catalog::LoadFigures() {
  std::map<uint32_t, const Collection*> collections;
  std::map<uint32_t, const Index*> indexes;
  const std::vector<CollectionPtr> all = All();
  for (const CollectionPtr& collection : all) {
    collections[collection->number] = collection.get();
    for (const auto& index : collection->indexes) indexes[index->number] = index.get();
  }
  const auto counters = store_.NewCursor({"s", "t"}, {});
  for (counters->SeekToFirst(); counters->Valid(); counters->Next()) {
    const auto at = collections.find(NumberIn(counters->key()));
    if (at == collections.end()) continue;
    CollectionState& state = *at->second->state;
    auto& figure = counters->key().back() == 'n' ? state.documents : state.bytes;
    figure += static_cast<int64_t>(LittleEndian(counters->value()));
  }
  BRAID_CHECK_OK(counters->status());
  const auto multikey = store_.NewCursor({"m", "n"}, {});
  for (multikey->SeekToFirst(); multikey->Valid(); multikey->Next()) {
    const auto at = indexes.find(NumberIn(multikey->key()));
    if (at == indexes.end()) continue;
    at->second->multikey = LittleEndian(multikey->value());
    at->second->multikey_stored = LittleEndian(multikey->value());
  }
  return multikey->status();
}

}  // namespace braid::catalog
