// Catalog: drops and renames, and what is left of them after a crash; loading.
#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "engine/catalog/catalog.h"

namespace braid::catalog {
namespace {

uint32_t BigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (unsigned char byte : bytes.substr(0, 4)) value = value << 8 | byte;
  return value;
}

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

Result<Catalog::Change> Catalog::Drop(const Namespace& ns) {
  Change change;
  {
    std::lock_guard lock(change_mu_);
    change.collection = Find(ns);
    if (change.collection == nullptr) return change;
    std::unique_lock gate(change.collection->state->gate);
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

Result<Catalog::Change> Catalog::Rename(const Namespace& from, const Namespace& to, bool drop_target) {
  if (from == to) return Status(Code::kIllegalOperation, "Can't rename a collection to itself");
  Change change;
  CollectionPtr target;
  {
    std::lock_guard lock(change_mu_);
    const CollectionPtr source = Find(from);
    if (source == nullptr) {
      return Status(Code::kNamespaceNotFound, StrCat("Source collection ", from.ToString(), " does not exist"));
    }
    target = Find(to);
    if (target != nullptr && !drop_target) {
      return Status(Code::kNamespaceExists, StrCat("target namespace exists: ", to.ToString()));
    }
    std::unique_lock source_gate(source->state->gate, std::defer_lock);
    std::unique_lock<std::shared_mutex> target_gate;
    if (target != nullptr) {
      target_gate = std::unique_lock(target->state->gate, std::defer_lock);
      std::lock(source_gate, target_gate);
    } else {
      source_gate.lock();
    }
    auto renamed = std::make_shared<Collection>(*source);
    renamed->ns = to;
    storage::WriteSet writes(store_);
    writes.Delete(storage::CatalogKey(from.database, from.collection));
    Describe(writes, *renamed);
    if (target != nullptr) Note(writes, LeftoversOf(*target));
    BRAID_TRY(change.position, store_.Commit(writes));
    if (target != nullptr) target->state->dropped = true;
    std::unique_lock shown(mu_);
    map_.erase(from);
    map_[to] = renamed;
    change.collection = std::move(renamed);
  }
  if (target != nullptr) BRAID_CHECK_OK(Collect(LeftoversOf(*target)));
  return change;
}

Result<Catalog::Change> Catalog::RemoveIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers) {
  std::vector<Leftover> leftovers;
  Change change;
  {
    std::lock_guard lock(change_mu_);
    BRAID_TRY(change, Replace(ns, [&](Collection* collection, storage::WriteSet& writes) -> Status {
                std::erase_if(collection->indexes, [&](const auto& index) {
                  const bool gone =
                      index->number != 0 && std::find(numbers.begin(), numbers.end(), index->number) != numbers.end();
                  if (gone) leftovers.push_back({index->number, true});
                  return gone;
                });
                Note(writes, leftovers);
                return {};
              }));
  }
  BRAID_CHECK_OK(Collect(leftovers));
  return change;
}

Result<std::unique_ptr<Catalog>> Catalog::Load(storage::Store& store, uint32_t shards) {
  std::unique_ptr<Catalog> catalog(new Catalog(store));
  BRAID_CHECK_OK(catalog->LoadCluster(shards));
  BRAID_TRY(int64_t last, store.ReadCounter(storage::NumberKey(), {}));
  catalog->last_number_ = static_cast<uint32_t>(last);
  BRAID_CHECK_OK(catalog->LoadDescriptions());
  BRAID_CHECK_OK(catalog->FinishDrops());
  BRAID_CHECK_OK(catalog->LoadFigures());
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
    // A build that did not end is as if it had never begun.
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
    map_[collection->ns] = std::move(collection);
  }
  BRAID_CHECK_OK(cursor->status());
  return store_.Commit(repairs).status();
}

Status Catalog::FinishDrops() {
  std::vector<Leftover> leftovers;
  const auto cursor = store_.NewCursor(storage::PendingDropRange(), {});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    leftovers.push_back({BigEndian(cursor->key().substr(1)), cursor->key().back() == 'i'});
  }
  BRAID_CHECK_OK(cursor->status());
  return Collect(leftovers);
}

Status Catalog::LoadFigures() {
  std::map<uint32_t, const Collection*> collections;
  std::map<uint32_t, const Index*> indexes;
  for (const auto& [ns, collection] : map_) {
    collections[collection->number] = collection.get();
    for (const auto& index : collection->indexes) indexes[index->number] = index.get();
  }
  const auto counters = store_.NewCursor({"s", "t"}, {});
  for (counters->SeekToFirst(); counters->Valid(); counters->Next()) {
    const auto at = collections.find(BigEndian(counters->key().substr(1)));
    if (at == collections.end()) continue;
    CollectionState& state = *at->second->state;
    auto& figure = counters->key().back() == 'n' ? state.documents : state.bytes;
    figure += static_cast<int64_t>(LittleEndian(counters->value()));
  }
  BRAID_CHECK_OK(counters->status());
  const auto multikey = store_.NewCursor({"m", "n"}, {});
  for (multikey->SeekToFirst(); multikey->Valid(); multikey->Next()) {
    const auto at = indexes.find(BigEndian(multikey->key().substr(1)));
    if (at == indexes.end()) continue;
    at->second->multikey = LittleEndian(multikey->value());
    at->second->multikey_stored = LittleEndian(multikey->value());
  }
  return multikey->status();
}

}  // namespace braid::catalog
