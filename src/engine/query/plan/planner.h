// Planner: the accesses that a query can take, the most promising first.
#pragma once

#include "engine/query/plan/access.h"
#include "engine/query/plan/hint.h"

namespace braid::query::plan {

/// At least one. Reads the multikey bits of the indexes once; PathsAreCurrent tells whether they still hold.
Result<std::vector<Access>> PlanAccesses(const Query& query);

/// False if an index has met arrays since the access was made: documents of a newer snapshot may escape its bounds.
bool PathsAreCurrent(const std::vector<Access>& accesses);

/// False if an index became ready after the snapshot at `read_at`, which may lack entries of it.
bool AreReady(const std::vector<Access>& accesses, storage::LogPosition read_at);

/// The most promising of several by a look at the data: each may walk a few entries, the one that ends soonest wins.
/// Reads the context's snapshot.
Result<size_t> ChooseAccess(txn::Context& context, const Query& query, storage::ShardNumber shard,
                            const std::vector<Access>& accesses);

}  // namespace braid::query::plan
