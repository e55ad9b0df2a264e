// addShard, removeShard, listShards: one more local shard, one fewer, and all of them.
#include <algorithm>

#include "base/strings.h"
#include "engine/balance/changelog.h"
#include "engine/bson/json.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

constexpr size_t kShardsMax = 1024;

/// Shards are inside this process: "local", this server's own address, or either behind a name ("shard9/local").
bool IsLocal(const EngineParts& engine, std::string_view host) {
  if (host == "local" || host == engine.options.advertised_host) return true;
  const size_t colon = host.rfind(':');
  const std::string_view own = engine.options.advertised_host;
  const std::string_view port = own.substr(own.rfind(':') + 1);
  const std::string_view machine = host.substr(0, colon);
  return colon != std::string_view::npos && host.substr(colon + 1) == port &&
         (machine == "localhost" || machine == "127.0.0.1");
}

bool IsShardName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name.find_first_of("/:. $") == std::string_view::npos;
}

Result<bson::Document> RunAdd(Call& call) {
  std::string_view address;
  std::string_view name;
  ArgReader reader(call.request);
  reader.Required("addShard", address);
  reader.Optional("name", name);
  reader.Ignore({"maxSize"});
  BRAID_CHECK_OK(reader.Finish());
  const size_t slash = address.find('/');
  const std::string_view host = slash == std::string_view::npos ? address : address.substr(slash + 1);
  if (!IsLocal(call.engine, host)) {
    return Status(Code::kIllegalOperation,
                  StrCat("the shards of Braid are inside this server: addShard 'local' adds one, '", host,
                         "' is another server"));
  }
  if (name.empty() && slash != std::string_view::npos) name = address.substr(0, slash);
  std::string added;
  const auto position = call.engine.catalog->ChangeCluster([&](catalog::Cluster* cluster) -> Status {
    added = name.empty() ? StrCat("shard", cluster->end) : std::string(name);
    if (!IsShardName(added)) return {Code::kBadValue, StrCat("'", added, "' is not a valid name of a shard")};
    if (cluster->Find(added) != nullptr) {
      return {Code::kIllegalOperation, StrCat("there is a shard '", added, "' already")};
    }
    if (cluster->shards.size() >= kShardsMax) {
      return {Code::kIllegalOperation,
              StrCat("there are ", kShardsMax, " shards already, which is the most there can be")};
    }
    cluster->shards.push_back({cluster->end++, added, false, TimestampNow(call)});
    return {};
  });
  BRAID_CHECK_OK(position);
  call.context.NotePosition(*position);
  balance::NoteChange(call.context, "addShard", "", bson::Make("name", added, "host", host));
  call.engine.balancer.Wake();
  return bson::Make("shardAdded", added);
}

/// What still prevents the removal of a shard.
struct Remaining {
  int64_t chunks = 0;
  std::vector<std::string> databases;
};

Remaining RemainingOn(Call& call, storage::ShardNumber shard) {
  Remaining remaining;
  for (const catalog::CollectionPtr& collection : call.engine.catalog->All()) {
    if (!collection->sharded()) continue;
    remaining.chunks += std::ranges::count_if(collection->placement->chunks,
                                              [&](const sharding::Chunk& chunk) { return chunk.HasPart(shard); });
  }
  for (const catalog::Database& database : call.engine.catalog->DatabaseRecords()) {
    bool unmoved = database.primary == shard;
    for (const catalog::CollectionPtr& collection : call.engine.catalog->Collections(database.name)) {
      unmoved = unmoved || (!collection->sharded() && collection->placement->chunks.front().HasPart(shard));
    }
    if (unmoved) remaining.databases.push_back(database.name);
  }
  return remaining;
}

/// The server's own databases cannot be moved by a client: they move along.
Status MoveOwnDatabases(Call& call, storage::ShardNumber from) {
  const sharding::ShardNumbers usable = call.engine.catalog->UsableShards();
  if (usable.empty()) return {};
  for (const std::string& name : RemainingOn(call, from).databases) {
    if (IsServersOwn(name)) BRAID_CHECK_OK(MovePrimary(call, name, usable.front()));
  }
  return {};
}

void AppendDatabases(bson::Builder& reply, const Remaining& remaining) {
  reply.OpenArray("dbsToMove");
  for (const std::string& name : remaining.databases) reply.AppendNext(name);
  reply.Close();
}

Result<bson::Document> RunRemove(Call& call) {
  std::string_view name;
  ArgReader reader(call.request);
  reader.Required("removeShard", name);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const catalog::Shard shard, FindShard(call, name));
  bson::Builder reply;
  const auto change = [&](const std::function<Status(catalog::Cluster*)>& apply) -> Status {
    BRAID_TRY(const auto position, call.engine.catalog->ChangeCluster(apply));
    call.context.NotePosition(position);
    return {};
  };
  if (!shard.draining) {
    BRAID_CHECK_OK(change([&](catalog::Cluster* cluster) -> Status {
      size_t others = 0;
      for (catalog::Shard& each : cluster->shards) {
        if (each.number != shard.number && !each.draining) ++others;
        if (each.number == shard.number) each.draining = true;
      }
      if (others == 0) return {Code::kIllegalOperation, "Operation not allowed because it would remove the last shard"};
      return {};
    }));
    balance::NoteChange(call.context, "removeShard.start", "", bson::Make("shard", shard.name));
    call.engine.balancer.Wake();
    BRAID_CHECK_OK(MoveOwnDatabases(call, shard.number));
    reply.Append("msg", "draining started successfully").Append("state", "started").Append("shard", shard.name);
    reply.Append("note", "you need to call movePrimary for the databases in dbsToMove");
    AppendDatabases(reply, RemainingOn(call, shard.number));
    return reply.Finish();
  }
  BRAID_CHECK_OK(MoveOwnDatabases(call, shard.number));
  const Remaining remaining = RemainingOn(call, shard.number);
  if (remaining.chunks > 0 || !remaining.databases.empty()) {
    call.engine.balancer.Wake();
    reply.Append("msg", "draining ongoing").Append("state", "ongoing").OpenObject("remaining");
    reply.Append("chunks", remaining.chunks).Append("dbs", static_cast<int64_t>(remaining.databases.size()));
    reply.Append("jumboChunks", int64_t{0}).Close();
    reply.Append("note", "you need to call movePrimary for the databases in dbsToMove");
    AppendDatabases(reply, remaining);
    return reply.Finish();
  }
  BRAID_CHECK_OK(change([&](catalog::Cluster* cluster) -> Status {
    std::erase_if(cluster->shards, [&](const catalog::Shard& each) { return each.number == shard.number; });
    return {};
  }));
  balance::NoteChange(call.context, "removeShard", "", bson::Make("shard", shard.name));
  reply.Append("msg", "removeshard completed successfully").Append("state", "completed").Append("shard", shard.name);
  return reply.Finish();
}

Result<bson::Document> RunListShards(Call& call) {
  ArgReader reader(call.request);
  reader.Ignore({"listShards"});
  BRAID_CHECK_OK(reader.Finish());
  bson::Builder reply;
  reply.OpenArray("shards");
  for (const bson::Document& row : ShardRows(call.engine)) reply.AppendNext(row);
  reply.Close();
  return reply.Finish();
}

}  // namespace

constinit const Command kAddShard = {
    .name = "addShard", .flags = kWrites | kAdminOnly, .help = "Adds one more local shard.", .run = RunAdd};
constinit const Command kRemoveShard = {.name = "removeShard",
                                        .flags = kWrites | kAdminOnly,
                                        .help = "Drains a shard and, once it is empty, removes it.",
                                        .run = RunRemove};

constinit const Command kListShards = {
    .name = "listShards", .flags = kReadOnly | kAdminOnly, .help = "Lists the shards.", .run = RunListShards};

}  // namespace braid::commands
