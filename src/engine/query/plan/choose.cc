// The choice between accesses by a look at the data.
#include <algorithm>

#include "engine/query/plan/fetch.h"
#include "engine/query/plan/index_scan.h"
#include "engine/query/plan/planner.h"

namespace braid::query::plan {
namespace {

constexpr uint64_t kTrialEntriesMax = 100;
/// So few that looking further costs more than it can save.
constexpr uint64_t kFewEntries = 10;

Result<uint64_t> CountEntries(txn::Context& context, const Query& query, storage::ShardNumber shard,
                              const Access& access, uint64_t max) {
  uint64_t entries = 0;
  for (const IndexPath& path : access.paths) {
    Run run(query, shard);
    IndexScan scan(run, path, "IXSCAN", max - entries);
    Row row;
    for (bool more = true; more;) {
      BRAID_TRY(more, scan.Next(context, &row));
    }
    entries += run.figures.keys_examined;
    if (entries >= max) return max;
  }
  return entries;
}

bool IsBounded(const Access& access) { return access.score.equalities + access.score.ranges > 0; }

// A walk in the right order over a whole index pays if the limit is reached before long.
Result<bool> FindsSoon(txn::Context& context, const Query& query, storage::ShardNumber shard, const Access& access) {
  Run run(query, shard);
  Fetch rows(run, access.residual, std::make_unique<IndexScan>(run, access.paths.front(), "IXSCAN", kTrialEntriesMax));
  Row row;
  const auto wanted = static_cast<uint64_t>(std::min<int64_t>(query.LimitAndSkip(), kFewEntries));
  for (uint64_t found = 0; found < wanted; ++found) {
    BRAID_TRY(const bool more, rows.Next(context, &row));
    if (!more) return false;
  }
  return true;
}

}  // namespace

Result<size_t> ChooseAccess(txn::Context& context, const Query& query, storage::ShardNumber shard,
                            const std::vector<Access>& accesses) {
  if (accesses.size() == 1 || accesses.front().score.single) return size_t{0};
  size_t best = 0;
  if (!IsBounded(accesses.front())) {
    const auto bounded = std::ranges::find_if(accesses, IsBounded);
    if (bounded == accesses.end()) return size_t{0};
    BRAID_TRY(const bool soon, FindsSoon(context, query, shard, accesses.front()));
    if (soon) return size_t{0};
    best = static_cast<size_t>(bounded - accesses.begin());
  }
  BRAID_TRY(uint64_t least, CountEntries(context, query, shard, accesses[best], kTrialEntriesMax));
  for (size_t i = best + 1; i < accesses.size() && least > kFewEntries; ++i) {
    if (!IsBounded(accesses[i])) continue;
    // Only a clear advantage outweighs the order: half the entries.
    BRAID_TRY(const uint64_t entries, CountEntries(context, query, shard, accesses[i], least / 2 + 1));
    if (entries <= least / 2) {
      least = entries;
      best = i;
    }
  }
  return best;
}

}  // namespace braid::query::plan
