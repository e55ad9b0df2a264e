// Catalog: the cluster and the databases.
#include <algorithm>
#include <ctime>
#include <limits>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/catalog/catalog.h"

namespace braid::catalog {
namespace {

using bson::Type;
using bson::Value;
using storage::ShardNumber;

uint64_t NowTimestamp() { return static_cast<uint64_t>(std::time(nullptr)) << 32 | 1; }

Status Damaged(std::string_view what, bson::View stored) {
  return {Code::kStorageCorrupt, StrCat("the record of ", what, " is damaged: ", bson::ToShell(stored))};
}

/// Numbers are given out in order and never reused.
bool IsInOrder(const Cluster& cluster) {
  for (size_t i = 0; i < cluster.shards.size(); ++i) {
    if (cluster.shards[i].number >= cluster.end) return false;
    if (i > 0 && cluster.shards[i].number <= cluster.shards[i - 1].number) return false;
  }
  return true;
}

bson::Document ToBson(const Cluster& cluster) {
  bson::Builder out;
  out.Append("id", cluster.id).Append("end", static_cast<int32_t>(cluster.end)).OpenArray("shards");
  for (const Shard& shard : cluster.shards) {
    out.OpenNextObject().Append("number", static_cast<int32_t>(shard.number)).Append("name", shard.name);
    out.Append("draining", shard.draining).Append("added", bson::Timestamp{shard.added}).Close();
  }
  return out.Close().Finish();
}

Result<Cluster> ParseCluster(bson::View stored) {
  Cluster cluster;
  const Value id = stored.Find("id");
  const Value end = stored.Find("end");
  const Value shards = stored.Find("shards");
  if (!id.Is(Type::kObjectId) || !end.Is(Type::kInt32) || !shards.Is(Type::kArray)) {
    return Damaged("the cluster", stored);
  }
  id.AsObjectId().copy(cluster.id.bytes, sizeof(cluster.id.bytes));
  cluster.end = static_cast<ShardNumber>(end.AsInt32());
  for (const auto& [position, shard] : shards.AsView()) {
    const Value number = shard.AsView().Find("number");
    const Value name = shard.AsView().Find("name");
    const Value draining = shard.AsView().Find("draining");
    const Value added = shard.AsView().Find("added");
    if (!number.Is(Type::kInt32) || !name.Is(Type::kString) || !draining.Is(Type::kBool) ||
        !added.Is(Type::kTimestamp)) {
      return Damaged("the cluster", stored);
    }
    cluster.shards.push_back({static_cast<ShardNumber>(number.AsInt32()), std::string(name.AsString()),
                              draining.AsBool(), added.AsTimestamp()});
  }
  if (!IsInOrder(cluster)) return Damaged("the cluster", stored);
  return cluster;
}

bson::Document ToBson(const Database& database) {
  return bson::Make("primary", static_cast<int32_t>(database.primary), "uuid", bson::Binary{4, database.uuid},
                    "timestamp", bson::Timestamp{database.timestamp}, "moves", static_cast<int64_t>(database.moves));
}

Result<Database> ParseDatabase(std::string_view name, bson::View stored) {
  const Value primary = stored.Find("primary");
  const Value uuid = stored.Find("uuid");
  const Value timestamp = stored.Find("timestamp");
  const Value moves = stored.Find("moves");
  if (!primary.Is(Type::kInt32) || !uuid.Is(Type::kBinary) || !timestamp.Is(Type::kTimestamp) ||
      !moves.Is(Type::kInt64)) {
    return Damaged(StrCat("the database ", name), stored);
  }
  return Database{std::string(name), static_cast<ShardNumber>(primary.AsInt32()), std::string(uuid.AsBinary().bytes),
                  timestamp.AsTimestamp(), static_cast<uint32_t>(moves.AsInt64())};
}

}  // namespace

const Shard* Cluster::Find(std::string_view name) const {
  const auto at = std::ranges::find(shards, name, &Shard::name);
  return at == shards.end() ? nullptr : &*at;
}

const Shard* Cluster::Find(ShardNumber number) const {
  const auto at = std::ranges::find(shards, number, &Shard::number);
  return at == shards.end() ? nullptr : &*at;
}

std::string Cluster::NameOf(ShardNumber number) const {
  const Shard* shard = Find(number);
  return shard != nullptr ? shard->name : StrCat("shard", number);
}

Status Catalog::LoadCluster(uint32_t shards) {
  storage::Buffer stored;
  Cluster known;
  BRAID_TRY(bool found, store_.Get(storage::ClusterKey(), {}, &stored));
  if (found) {
    BRAID_TRY(known, ParseCluster(bson::View(stored.view())));
  } else {
    known.id = bson::ObjectId::Generate();
  }
  const bool enough = found && known.shards.size() >= shards;
  std::map<std::string, Database, std::less<>> databases;
  const auto cursor = store_.NewCursor(storage::DatabaseRange(), {});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    const std::string_view name = cursor->key().substr(1);
    BRAID_TRY(Database database, ParseDatabase(name, bson::View(cursor->value())));
    databases.emplace(name, std::move(database));
  }
  BRAID_CHECK_OK(cursor->status());
  {
    const WriterLock lock(mu_);
    cluster_ = std::move(known);
    databases_ = std::move(databases);
  }
  if (enough) return {};
  return ChangeCluster([shards](Cluster* cluster) -> Status {
           while (cluster->shards.size() < shards) {
             cluster->shards.push_back({cluster->end, StrCat("shard", cluster->end), false, NowTimestamp()});
             ++cluster->end;
           }
           return {};
         })
      .status();
}

Cluster Catalog::cluster() const {
  const ReaderLock lock(mu_);
  return cluster_;
}

sharding::ShardNumbers Catalog::UsableShards() const {
  const ReaderLock lock(mu_);
  sharding::ShardNumbers usable;
  for (const Shard& shard : cluster_.shards) {
    if (!shard.draining) usable.push_back(shard.number);
  }
  return usable;
}

ShardNumber Catalog::shard_end() const {
  const ReaderLock lock(mu_);
  return cluster_.end;
}

Result<storage::LogPosition> Catalog::ChangeCluster(const std::function<Status(Cluster*)>& change) {
  const MutexLock lock(change_mu_);
  Cluster after = cluster();
  const ShardNumber end = after.end;
  BRAID_CHECK_OK(change(&after));
  if (after.end < end) return Status(Code::kIllegalOperation, "every number that a shard can have has been given out");
  BRAID_ASSERT(IsInOrder(after));
  storage::WriteSet writes(store_);
  writes.Put(storage::ClusterKey(), ToBson(after).bytes());
  BRAID_TRY(storage::LogPosition position, store_.Commit(writes));
  const WriterLock shown(mu_);
  cluster_ = std::move(after);
  return position;
}

// The record is shown at once: a database without collections is not listed anywhere but in config.
Database Catalog::AddDatabase(std::string_view name, std::optional<ShardNumber> primary, storage::WriteSet& writes) {
  if (auto known = FindDatabase(name)) return *std::move(known);
  if (!primary) {
    std::map<ShardNumber, uint64_t> primaries;  // how many databases each has
    for (const ShardNumber shard : UsableShards()) primaries[shard] = 0;
    for (const Database& other : DatabaseRecords()) {
      if (const auto at = primaries.find(other.primary); at != primaries.end()) ++at->second;
    }
    const auto least = std::ranges::min_element(primaries, {}, &std::pair<const ShardNumber, uint64_t>::second);
    primary = least == primaries.end() ? 0 : least->first;
  }
  Database database{std::string(name), *primary, MakeUuid(), NowTimestamp(), 1};
  writes.Put(storage::DatabaseKey(name), ToBson(database).bytes());
  const WriterLock shown(mu_);
  databases_.emplace(name, database);
  return database;
}

Result<Database> Catalog::EnsureDatabase(std::string_view name, std::optional<ShardNumber> primary,
                                         storage::LogPosition* position) {
  const MutexLock lock(change_mu_);
  storage::WriteSet writes(store_);
  Database database = AddDatabase(name, primary, writes);
  *position = store_.newest();
  if (!writes.empty()) {
    BRAID_TRY(*position, store_.Commit(writes));
  }
  return database;
}

std::optional<Database> Catalog::FindDatabase(std::string_view name) const {
  const ReaderLock lock(mu_);
  const auto at = databases_.find(name);
  if (at == databases_.end()) return std::nullopt;
  return at->second;
}

std::vector<Database> Catalog::DatabaseRecords() const {
  const ReaderLock lock(mu_);
  std::vector<Database> records;
  for (const auto& [name, database] : databases_) records.push_back(database);
  return records;
}

Result<storage::LogPosition> Catalog::SetPrimary(std::string_view name, ShardNumber shard) {
  const MutexLock lock(change_mu_);
  auto database = FindDatabase(name);
  if (!database) return Status(Code::kNamespaceNotFound, StrCat("database ", name, " not found"));
  database->primary = shard;
  database->timestamp = NowTimestamp();
  ++database->moves;
  storage::WriteSet writes(store_);
  writes.Put(storage::DatabaseKey(name), ToBson(*database).bytes());
  BRAID_TRY(storage::LogPosition position, store_.Commit(writes));
  const WriterLock shown(mu_);
  databases_[std::string(name)] = *std::move(database);
  return position;
}

Result<storage::LogPosition> Catalog::ForgetDatabase(std::string_view name) {
  const MutexLock lock(change_mu_);
  storage::WriteSet writes(store_);
  writes.Delete(storage::DatabaseKey(name));
  BRAID_TRY(storage::LogPosition position, store_.Commit(writes));
  const WriterLock shown(mu_);
  databases_.erase(std::string(name));
  return position;
}

}  // namespace braid::catalog
