// What the commands about shards and chunks share: shards by name, chunks by what a client calls them.
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

/// admin, config, local: the server keeps them, no client says where.
bool IsServersOwn(std::string_view database);
/// Takes a database's unsharded collections to a shard: new ones are made there from the first moment on, then the old
/// ones follow. A call that was interrupted is made again.
Status MovePrimary(Call& call, std::string_view database, storage::ShardNumber to);

/// As the clock of the server says, for tables of chunks.
uint64_t TimestampNow(Call& call);

}  // namespace braid::commands
