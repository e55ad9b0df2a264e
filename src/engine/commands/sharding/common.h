// Shared by the commands about shards and chunks: finding shards by name, and chunks by a document or bounds.
#pragma once

#include "engine/balance/move.h"
#include "engine/commands/command.h"
#include "engine/commands/shared/common.h"

namespace braid::commands {

/// kNamespaceNotSharded (118) unless it is.
Result<catalog::CollectionPtr> FindSharded(Call& call, const catalog::Namespace& ns);
/// By name or by connection string ("shard1/host:port"); kShardNotFound (70).
Result<catalog::Shard> FindShard(Call& call, std::string_view name);

/// How a chunk is named: by a document in it, or by its bounds.
struct ChunkSelector {
  std::optional<bson::View> find;
  std::optional<bson::View> bounds;  // an array of two
};
/// The position of the chunk in the table; kBadValue if there is none with exactly these bounds.
Result<size_t> FindChunk(const sharding::Placement& placement, const ChunkSelector& selector);

/// admin, config, local: the server places them, not the client.
bool IsServersOwn(std::string_view database);
/// Moves a database's unsharded collections to a shard: new ones are created there from the start on, then the old ones
/// are moved. An interrupted call must be repeated.
Status MovePrimary(Call& call, std::string_view database, storage::ShardNumber to);

/// The time of the server's clock, for tables of chunks.
uint64_t TimestampNow(Call& call);

}  // namespace braid::commands
