// The rows of config's views: the cluster, and the placement of sharded collections.
#include "engine/commands/shared/config_rows.h"

#include <functional>

#include "engine/commands/parts.h"
#include "engine/commands/topology.h"

namespace braid::commands {
namespace {

std::vector<catalog::CollectionPtr> ShardedCollections(const EngineParts& engine) {
  std::vector<catalog::CollectionPtr> sharded;
  for (catalog::CollectionPtr& collection : engine.catalog->All()) {
    if (collection->sharded()) sharded.push_back(std::move(collection));
  }
  return sharded;
}

/// Every chunk of every sharded collection, by its position in the table.
void ForEachChunk(const EngineParts& engine, const std::function<void(const catalog::Collection&, size_t)>& visit) {
  for (const catalog::CollectionPtr& collection : ShardedCollections(engine)) {
    for (size_t i = 0; i < collection->placement->chunks.size(); ++i) visit(*collection, i);
  }
}

int64_t MillisOf(uint64_t timestamp) { return static_cast<int64_t>(timestamp >> 32) * 1000; }

}  // namespace

Rows VersionRows(const EngineParts& engine) {
  Rows rows;
  rows.push_back(bson::Make("_id", 1, "clusterId", engine.catalog->cluster().id));
  return rows;
}

Rows ShardRows(const EngineParts& engine) {
  Rows rows;
  for (const catalog::Shard& shard : engine.catalog->shards()) {
    bson::Builder row;
    row.Append("_id", shard.name).Append("host", ShardHost(engine, shard.number)).Append("state", 1);
    row.Append("topologyTime", bson::Timestamp{shard.added});
    if (shard.draining) row.Append("draining", true);
    rows.push_back(row.Finish());
  }
  return rows;
}

// There is one router: this process.
Rows RouterRows(const EngineParts& engine) {
  const int64_t now = engine.options.clock->NowMillis();
  bson::Builder row;
  row.Append("_id", engine.options.advertised_host).OpenArray("advisoryHostFQDNs").Close();
  row.Append("created", bson::Date{engine.started_millis}).Append("mongoVersion", kMongoVersion);
  row.Append("ping", bson::Date{now}).Append("up", (now - engine.started_millis) / 1000).Append("waiting", true);
  Rows rows;
  rows.push_back(row.Finish());
  return rows;
}

Rows DatabaseRows(const EngineParts& engine) {
  const catalog::Cluster cluster = engine.catalog->cluster();
  Rows rows;
  for (const catalog::Database& database : engine.catalog->DatabaseRecords()) {
    if (database.name == "admin" || database.name == "config" || database.name == "local") continue;
    bson::Builder row;
    row.Append("_id", database.name).Append("primary", cluster.NameOf(database.primary)).OpenObject("version");
    row.Append("uuid", bson::Binary{4, database.uuid}).Append("timestamp", bson::Timestamp{database.timestamp});
    row.Append("lastMod", static_cast<int32_t>(database.moves)).Close();
    rows.push_back(row.Finish());
  }
  return rows;
}

Rows CollectionRows(const EngineParts& engine) {
  Rows rows;
  for (const catalog::CollectionPtr& collection : ShardedCollections(engine)) {
    const sharding::Placement& placement = *collection->placement;
    bson::Builder row;
    row.Append("_id", collection->ns.ToString()).Append("lastmodEpoch", placement.epoch);
    row.Append("lastmod", bson::Date{MillisOf(placement.timestamp)});
    row.Append("timestamp", bson::Timestamp{placement.timestamp}).Append("uuid", bson::Binary{4, collection->uuid});
    row.Append("key", placement.key.pattern());
    if (collection->collation != nullptr) row.Append("defaultCollation", collection->collation->spec());
    row.Append("unique", placement.unique).Append("noBalance", placement.no_balance);
    rows.push_back(row.Finish());
  }
  return rows;
}

Rows ChunkRows(const EngineParts& engine) {
  const catalog::Cluster cluster = engine.catalog->cluster();
  Rows rows;
  ForEachChunk(engine, [&](const catalog::Collection& collection, size_t i) {
    const sharding::Chunk& chunk = collection.placement->chunks[i];
    const std::string shard = cluster.NameOf(chunk.shard);
    bson::Builder row;
    row.Append("_id", chunk.id).Append("uuid", bson::Binary{4, collection.uuid});
    row.Append("min", chunk.min).Append("max", collection.placement->MaxOf(i)).Append("shard", shard);
    row.Append("lastmod", bson::Timestamp{uint64_t{chunk.major} << 32 | chunk.minor});
    row.Append("onCurrentShardSince", bson::Timestamp{chunk.since});
    row.OpenArray("history").OpenNextObject().Append("validAfter", bson::Timestamp{chunk.since});
    row.Append("shard", shard).Close().Close();
    rows.push_back(row.Finish());
  });
  return rows;
}

Rows MigrationRows(const EngineParts& engine) {
  const catalog::Cluster cluster = engine.catalog->cluster();
  Rows rows;
  ForEachChunk(engine, [&](const catalog::Collection& collection, size_t i) {
    const sharding::Chunk& chunk = collection.placement->chunks[i];
    if (!chunk.from) return;
    bson::Builder row;
    row.Append("_id", chunk.id).Append("ns", collection.ns.ToString());
    row.Append("min", chunk.min).Append("max", collection.placement->MaxOf(i));
    row.Append("fromShard", cluster.NameOf(*chunk.from)).Append("toShard", cluster.NameOf(chunk.shard));
    rows.push_back(row.Finish());
  });
  return rows;
}

}  // namespace braid::commands
