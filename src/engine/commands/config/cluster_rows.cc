// config.version, shards, mongos, databases.
#include "engine/commands/config/rows.h"
#include "engine/commands/parts.h"
#include "engine/commands/topology.h"

namespace braid::commands {

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

}  // namespace braid::commands
