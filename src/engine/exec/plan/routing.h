// Routing: from a filter to the shards that can have matching documents (B3).
#pragma once

#include "engine/exec/plan/plan.h"
#include "engine/sharding/placement.h"

namespace braid::query::plan {

/// Equality, $in and ranges on the shard key or a prefix of it, and $or of such branches, narrow the shards down;
/// everything else leaves all of them. Never empty: a filter that nothing can meet goes to one shard.
sharding::ShardNumbers RouteFilter(const catalog::Collection& collection, const Filter& filter,
                                   const bson::Collation* collation);

/// The shards to read in the context's snapshot. `query.collection` is brought up to date first. If the placement is
/// younger than the snapshot, the documents may be where they were before: then every shard that ever existed is read.
sharding::ShardNumbers RouteInSnapshot(txn::Context& context, Query* query);

}  // namespace braid::query::plan
