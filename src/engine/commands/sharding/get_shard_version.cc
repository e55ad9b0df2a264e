// getShardVersion: the version of a collection's table of chunks, or a database's primary shard and its version.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> VersionOfDatabase(const EngineParts& engine, std::string_view name) {
  const auto database = engine.catalog->FindDatabase(name);
  if (!database) return Status(Code::kNamespaceNotFound, StrCat("database ", name, " not found"));
  bson::Builder reply;
  reply.Append("primaryShard", ShardName(engine, database->primary)).OpenObject("version");
  reply.Append("uuid", bson::Binary{4, database->uuid}).Append("timestamp", bson::Timestamp{database->timestamp});
  reply.Append("lastMod", static_cast<int32_t>(database->moves)).Close();
  return reply.Finish();
}

/// The version of the chunk that was changed last.
bson::Timestamp Newest(const sharding::Placement& placement) {
  uint64_t newest = 0;
  for (const sharding::Chunk& chunk : placement.chunks) {
    newest = std::max(newest, uint64_t{chunk.major} << 32 | chunk.minor);
  }
  return {newest};
}

/// [[min, max], …]; left out of the reply if there are too many for one.
void AppendChunks(bson::Builder& reply, const sharding::Placement& placement) {
  bson::Builder chunks;
  for (size_t i = 0; i < placement.chunks.size(); ++i) {
    chunks.OpenNextArray().AppendNext(placement.chunks[i].min).AppendNext(placement.MaxOf(i)).Close();
    if (chunks.size() > bson::kDocumentBytesMax) return;
  }
  reply.AppendArray("chunks", chunks.Finish());
}

Result<bson::Document> RunGetShardVersion(Call& call) {
  std::string_view name;
  bool full_metadata = false;
  ArgReader reader(call.request);
  reader.Required("getShardVersion", name);
  reader.Optional("fullMetadata", full_metadata);
  BRAID_CHECK_OK(reader.Finish());
  if (name.find('.') == std::string_view::npos) return VersionOfDatabase(call.engine, name);
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  BRAID_TRY(const catalog::CollectionPtr collection, FindSharded(call, ns));
  const sharding::Placement& placement = *collection->placement;
  bson::Builder reply;
  reply.Append("version", Newest(placement)).Append("versionEpoch", placement.epoch);
  reply.Append("versionTimestamp", bson::Timestamp{placement.timestamp});
  if (full_metadata) AppendChunks(reply, placement);
  return reply.Finish();
}

}  // namespace

constinit const Command kGetShardVersion = {.name = "getShardVersion",
                                            .flags = kReadOnly | kAdminOnly,
                                            .help = "The version of a sharded collection's chunks.",
                                            .run = RunGetShardVersion};
}  // namespace braid::commands
