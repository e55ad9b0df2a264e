// Catalog: lookups, creation, and how a change becomes a commit.
#include "engine/catalog/catalog.h"

#include "base/assert.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"

namespace braid::catalog {
namespace {

/// The system collections that may be made; every other name under "system." is MongoDB's own.
bool MayBeCreated(std::string_view collection) {
  constexpr std::string_view kSystem[] = {"system.js",       "system.profile", "system.roles",
                                          "system.sessions", "system.users",   "system.version"};
  if (collection.starts_with("$cmd")) return false;
  if (!collection.starts_with("system.")) return true;
  return std::find(std::begin(kSystem), std::end(kSystem), collection) != std::end(kSystem);
}

Status NotFound(const Namespace& ns) { return {Code::kNamespaceNotFound, StrCat("ns not found: ", ns.ToString())}; }

}  // namespace

CollectionPtr Catalog::Find(const Namespace& ns) const {
  const ReaderLock lock(mu_);
  const auto at = map_.find(ns);
  return at == map_.end() ? nullptr : at->second;
}

CollectionPtr Catalog::Find(std::string_view database, std::string_view collection) const {
  return Find(Namespace{std::string(database), std::string(collection)});
}

CollectionPtr Catalog::FindNumber(uint32_t number) const {
  const ReaderLock lock(mu_);
  for (const auto& [ns, collection] : map_) {
    if (collection->number == number) return collection;
  }
  return nullptr;
}

std::vector<std::string> Catalog::Databases() const {
  const ReaderLock lock(mu_);
  std::vector<std::string> names;
  for (const auto& [ns, collection] : map_) {
    if (names.empty() || names.back() != ns.database) names.push_back(ns.database);
  }
  return names;
}

std::vector<CollectionPtr> Catalog::Collections(std::string_view database) const {
  const ReaderLock lock(mu_);
  std::vector<CollectionPtr> found;
  for (auto at = map_.lower_bound({std::string(database), ""}); at != map_.end() && at->first.database == database;
       ++at) {
    found.push_back(at->second);
  }
  return found;
}

std::vector<CollectionPtr> Catalog::All() const {
  const ReaderLock lock(mu_);
  std::vector<CollectionPtr> all;
  for (const auto& [ns, collection] : map_) all.push_back(collection);
  return all;
}

void Catalog::Show(CollectionPtr collection) {
  BRAID_ASSERT(collection->state != nullptr && collection->placement != nullptr);
  BRAID_ASSERT(!collection->indexes.empty() && collection->indexes.front()->number == 0);  // that of _id
  const WriterLock lock(mu_);
  map_[collection->ns] = std::move(collection);
}

void Catalog::Hide(const Namespace& ns) {
  const WriterLock lock(mu_);
  const size_t hidden = map_.erase(ns);
  BRAID_ASSERT(hidden == 1);
}

uint32_t Catalog::TakeNumber(storage::WriteSet& writes) {
  writes.Add(storage::NumberKey(), 1);
  return ++last_number_;
}

void Catalog::Describe(storage::WriteSet& writes, const Collection& collection) const {
  writes.Put(storage::CatalogKey(collection.ns.database, collection.ns.collection), DescriptionOf(collection).bytes());
}

Result<std::shared_ptr<Collection>> Catalog::MakeLocked(const Namespace& ns, bson::View options,
                                                        storage::WriteSet& writes) {
  if (!MayBeCreated(ns.collection)) {
    return Status(Code::kInvalidNamespace, StrCat("cannot write to '", ns.ToString(), "'"));
  }
  auto collection = std::make_shared<Collection>();
  collection->ns = ns;
  collection->uuid = MakeUuid();
  collection->options = bson::Document(options);
  collection->state = std::make_shared<CollectionState>();
  BRAID_CHECK_OK(ApplyOptions(collection.get()));
  auto id = std::make_shared<Index>();
  id->spec = IndexSpec::Id(collection->collation);
  collection->indexes.push_back(std::move(id));
  const Database database = AddDatabase(ns.database, std::nullopt, writes);
  collection->placement = std::make_shared<sharding::Placement>(sharding::Placement::OnOneShard(database.primary));
  collection->number = TakeNumber(writes);
  return collection;
}

Result<Catalog::Change> Catalog::CreateLocked(const Namespace& ns, bson::View options) {
  BRAID_ASSERT(Find(ns) == nullptr);
  storage::WriteSet writes(store_);
  BRAID_TRY(std::shared_ptr<Collection> collection, MakeLocked(ns, options, writes));
  Describe(writes, *collection);
  Change change{.collection = collection, .created = true};
  BRAID_TRY(change.position, store_.Commit(writes));
  Show(std::move(collection));
  return change;
}

Result<std::shared_ptr<Collection>> Catalog::Draft(const Namespace& ns, bson::View options) {
  const MutexLock lock(change_mu_);
  storage::WriteSet writes(store_);
  BRAID_TRY(std::shared_ptr<Collection> collection, MakeLocked(ns, options, writes));
  BRAID_CHECK_OK(store_.Commit(writes));  // the number, and the database's record
  return collection;
}

Result<uint32_t> Catalog::TakeNumberNow() {
  const MutexLock lock(change_mu_);
  storage::WriteSet writes(store_);
  const uint32_t number = TakeNumber(writes);
  BRAID_CHECK_OK(store_.Commit(writes));
  return number;
}

Result<storage::LogPosition> Catalog::Publish(const std::vector<CollectionPtr>& drafts, storage::WriteSet& writes) {
  const MutexLock lock(change_mu_);
  for (const CollectionPtr& draft : drafts) {
    if (Find(draft->ns) != nullptr) {
      return Status(Code::kWriteConflict,
                    StrCat("WriteConflict: the collection ", draft->ns.ToString(), " was created by another process"));
    }
    Describe(writes, *draft);
  }
  BRAID_TRY(const storage::LogPosition position, store_.Commit(writes));
  for (const CollectionPtr& draft : drafts) Show(draft);
  return position;
}

Result<Catalog::Change> Catalog::Create(const Namespace& ns, bson::View options) {
  const MutexLock lock(change_mu_);
  if (CollectionPtr existing = Find(ns)) {
    if (bson::Compare(existing->options, options) != 0) {
      return Status(Code::kNamespaceExists,
                    StrCat("Collection ", ns.ToString(), " already exists with different options."));
    }
    return Change{.collection = existing, .position = store_.newest()};
  }
  return CreateLocked(ns, options);
}

Result<Catalog::Change> Catalog::Ensure(const Namespace& ns) {
  if (CollectionPtr existing = Find(ns)) return Change{.collection = existing};
  const MutexLock lock(change_mu_);
  if (CollectionPtr existing = Find(ns)) return Change{.collection = existing, .position = store_.newest()};
  return CreateLocked(ns, bson::View());
}

Result<Gate::Pass> Catalog::CloseGate(CollectionState& state, Waiter* waiter) {
  PatientWaiter patient;
  return state.gate.Close(waiter != nullptr ? *waiter : patient);
}

Catalog::Held::Held(Catalog& catalog, const Namespace& ns, Waiter* waiter) : catalog_(catalog) {
  while (true) {
    collection_ = catalog_.Find(ns);
    if (collection_ != nullptr) {
      Result<Gate::Pass> closed = CloseGate(*collection_->state, waiter);
      if (closed.ok()) {
        gate_ = *std::move(closed);
      } else {
        status_ = closed.error();
      }
    }
    catalog_.change_mu_.Lock();
    if (!status_.ok() || catalog_.Find(ns) == collection_) return;
    catalog_.change_mu_.Unlock();
    gate_.Release();
  }
}

Catalog::Held::~Held() { catalog_.change_mu_.Unlock(); }

Result<Catalog::Change> Catalog::Replace(const Namespace& ns,
                                         const std::function<Status(Collection*, storage::WriteSet&)>& change,
                                         Waiter* waiter) {
  const Held held(*this, ns, waiter);
  BRAID_CHECK_OK(held.status());
  const CollectionPtr& before = held.collection();
  if (before == nullptr) return NotFound(ns);
  auto after = std::make_shared<Collection>(*before);
  storage::WriteSet writes(store_);
  BRAID_CHECK_OK(change(after.get(), writes));
  Describe(writes, *after);
  Change result{.collection = after};
  BRAID_TRY(result.position, store_.Commit(writes));
  BRAID_ASSERT(result.position > before->placed_at);
  if (after->placement != before->placement) after->placed_at = result.position;
  Show(std::move(after));
  return result;
}

Result<Catalog::Change> Catalog::Modify(const Namespace& ns, const std::function<Status(Collection*)>& change,
                                        Waiter* waiter) {
  const auto modify = [&change](Collection* collection, storage::WriteSet&) -> Status {
    const Collection before = *collection;
    BRAID_CHECK_OK(change(collection));
    return UpdateOptions(before, collection);
  };
  return Replace(ns, modify, waiter);
}

Result<Catalog::Change> Catalog::Place(const Namespace& ns, uint32_t number,
                                       const std::function<Status(sharding::Placement*, storage::WriteSet&)>& change,
                                       Waiter* waiter) {
  const auto place = [&](Collection* collection, storage::WriteSet& writes) -> Status {
    if (collection->number != number) {
      return {Code::kConflictingOperationInProgress, StrCat(ns.ToString(), " was dropped and made again meanwhile")};
    }
    sharding::Placement placement = *collection->placement;
    BRAID_CHECK_OK(change(&placement, writes));
    BRAID_ASSERT(placement.IsWhole());
    collection->placement = std::make_shared<sharding::Placement>(std::move(placement));
    return {};
  };
  return Replace(ns, place, waiter);
}

Result<Catalog::Change> Catalog::StartIndexes(const Namespace& ns, std::vector<IndexSpec> specs, Waiter* waiter) {
  const auto start = [&](Collection* collection, storage::WriteSet& writes) BRAID_REQUIRES(change_mu_) -> Status {
    for (IndexSpec& spec : specs) {
      for (const auto& existing : collection->indexes) {
        BRAID_TRY(bool same, spec.CompareWith(existing->spec));
        if (same) return {Code::kIndexAlreadyExists, StrCat("the index ", spec.name, " exists already")};
      }
      if (collection->indexes.size() >= kIndexesMax) {
        return {Code::kCannotCreateIndex,
                StrCat("add index fails, too many indexes for ", ns.ToString(), ": at most ", kIndexesMax)};
      }
      auto index = std::make_shared<Index>();
      index->number = TakeNumber(writes);
      index->building = true;
      index->spec = std::move(spec);
      collection->indexes.push_back(std::move(index));
    }
    return {};
  };
  return Replace(ns, start, waiter);
}

Result<Catalog::Change> Catalog::FinishIndexes(const Namespace& ns, const std::vector<uint32_t>& numbers,
                                               Waiter* waiter) {
  const auto finish = [&](Collection* collection, storage::WriteSet&) -> Status {
    size_t finished = 0;
    for (auto& index : collection->indexes) {
      if (std::find(numbers.begin(), numbers.end(), index->number) == numbers.end()) continue;
      BRAID_ASSERT(index->building);
      BRAID_CHECK_OK(index->build_error());  // under the gate: no writer can add a failure any more
      auto ready = index->Clone();
      ready->building = false;
      ready->ready_at = store_.newest();  // there is no writer now, and every document has its entries
      index = std::move(ready);
      ++finished;
    }
    if (finished != numbers.size()) {
      return {Code::kIndexBuildAborted, StrCat("an index of ", ns.ToString(), " was dropped while it was built")};
    }
    return {};
  };
  return Replace(ns, finish, waiter);
}

}  // namespace braid::catalog
