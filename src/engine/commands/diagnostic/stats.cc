// collStats, dbStats: sizes and counts of a collection, of a database.
#include "base/strings.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/shared/sizes.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunCollStats(Call& call) {
  std::string_view name;
  int64_t scale = 1;
  ArgReader reader(call.request);
  reader.Collection(call.request.name, name);
  reader.Optional("scale", scale);
  reader.Ignore({"waitForLock", "rawData"});
  reader.Check(scale > 0, Location(51024),
               StrCat("BSON field 'collStats.scale' value must be >= 1, actual value '", scale, "'"));
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, name));
  const catalog::CollectionPtr collection = FindReadable(call.engine, ns);
  bson::Builder reply;
  reply.Append("ns", ns.ToString()).Append("sharded", collection != nullptr && collection->sharded());
  if (collection == nullptr) {
    reply.Append("size", 0)
        .Append("count", 0)
        .Append("storageSize", 0)
        .Append("nindexes", 0)
        .Append("totalIndexSize", 0)
        .Append("totalSize", 0);
    reply.OpenObject("indexSizes").Close().Append("scaleFactor", static_cast<int32_t>(scale));
    return reply.Finish();
  }
  const bson::Document stats = StorageStats(call.engine, *collection, static_cast<double>(scale));
  reply.AppendAll(stats);
  if (!collection->sharded()) reply.Append("primary", PrimaryShard(call.engine, *collection));
  reply.OpenObject("shards");
  for (const storage::ShardNumber shard : collection->placement->Shards()) {
    BRAID_TRY(const bson::Document part,
              StorageStatsOfShard(call.engine, *collection, shard, static_cast<double>(scale)));
    reply.Append(ShardName(call.engine, shard), part);
  }
  reply.Close();
  return reply.Finish();
}

Result<bson::Document> RunDbStats(Call& call) {
  int64_t scale = 1;
  ArgReader reader(call.request);
  reader.Ignore({"dbStats", "dbstats", "freeStorage"});
  reader.Optional("scale", scale);
  reader.Check(scale > 0, Location(51024),
               StrCat("BSON field 'dbStats.scale' value must be >= 1, actual value '", scale, "'"));
  BRAID_CHECK_OK(reader.Finish());
  int32_t collections = 0;
  int32_t indexes = 0;
  int64_t objects = 0;
  int64_t bytes = 0;
  int64_t storage = 0;
  int64_t index_bytes = 0;
  for (const catalog::CollectionPtr& collection : ReadableCollections(call.engine, call.request.database)) {
    ++collections;
    indexes += static_cast<int32_t>(collection->indexes.size());
    objects += collection->state->documents.load();
    bytes += collection->state->bytes.load();
    storage += DocumentDiskBytes(call.engine, *collection);
    for (const auto& index : collection->indexes) index_bytes += IndexDiskBytes(call.engine, *index);
  }
  const auto scaled = [scale](int64_t size) { return static_cast<double>(size) / static_cast<double>(scale); };
  bson::Builder reply;
  reply.Append("db", call.request.database)
      .Append("collections", collections)
      .Append("views", 0)
      .Append("objects", objects);
  reply.Append("avgObjSize", objects > 0 ? static_cast<double>(bytes) / static_cast<double>(objects) : 0.0);
  reply.Append("dataSize", scaled(bytes)).Append("storageSize", scaled(storage)).Append("indexes", indexes);
  reply.Append("indexSize", scaled(index_bytes)).Append("totalSize", scaled(storage + index_bytes));
  reply.Append("scaleFactor", static_cast<int32_t>(scale));
  return reply.Finish();
}

}  // namespace

constinit const Command kCollStats = {
    .name = "collStats", .flags = kReadOnly, .help = "Sizes of a collection.", .run = RunCollStats};
constinit const Command kCollstats = {
    .name = "collstats", .flags = kReadOnly, .help = "Old name of collStats.", .run = RunCollStats};
constinit const Command kDbStats = {
    .name = "dbStats", .flags = kReadOnly, .help = "Sizes of a database.", .run = RunDbStats};
constinit const Command kDbstats = {
    .name = "dbstats", .flags = kReadOnly, .help = "Old name of dbStats.", .run = RunDbStats};
}  // namespace braid::commands
