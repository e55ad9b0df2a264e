// movePrimary: takes a database's unsharded collections to another shard.
#include "base/strings.h"
#include "engine/balance/changelog.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunMovePrimary(Call& call) {
  std::string_view database;
  std::string_view to;
  ArgReader reader(call.request);
  reader.Required("movePrimary", database);
  reader.Required("to", to);
  reader.Ignore({"moveTo"});
  BRAID_CHECK_OK(reader.Finish());
  if (IsServersOwn(database)) {
    return Status(Code::kInvalidOptions, StrCat("Can't move primary for ", database, " database"));
  }
  BRAID_TRY(const catalog::Shard shard, FindShard(call, to));
  if (shard.draining) return Status(Code::kShardNotFound, StrCat("shard ", shard.name, " is being removed"));
  BRAID_CHECK_OK(MovePrimary(call, database, shard.number));
  balance::NoteChange(call.context, "movePrimary", database, bson::Make("to", shard.name));
  return bson::Make("primary", ShardHost(call.engine, shard.number));
}

}  // namespace

Status MovePrimary(Call& call, std::string_view database, storage::ShardNumber to) {
  BRAID_TRY(const storage::LogPosition position, call.engine.catalog->SetPrimary(database, to));
  call.context.NotePosition(position);
  for (const catalog::CollectionPtr& collection : call.engine.catalog->Collections(database)) {
    const sharding::Chunk& whole = collection->placement->chunks.front();
    if (collection->sharded() || (whole.shard == to && !whole.from)) continue;
    BRAID_CHECK_OK(call.engine.balancer.Move(call.context, collection->ns, collection->number, {}, to));
  }
  return {};
}

constinit const Command kMovePrimary = {.name = "movePrimary",
                                        .flags = kWrites | kAdminOnly,
                                        .help = "Moves a database's unsharded collections to another shard.",
                                        .run = RunMovePrimary};
}  // namespace braid::commands
