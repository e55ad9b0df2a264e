// Queries of the statistics (A2, A8), each answered from one snapshot, and the state of the logical shards, to see
// whether there are enough (A1–A3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/staking/tables.h"

namespace braid::staking {

struct Overall {
  CounterValues sums;
  int64_t pending_events = 0;  // unbonded that wait for their active
  int64_t unprocessable_messages = 0;
  int64_t conflicting_events = 0;
};

Result<Overall> GetOverallStats(Clients& clients, const Tables& tables);

/// Sums of one finality provider or staker; zeros if it is not known.
Result<CounterValues> GetStats(Clients& clients, const Tables& tables, const Counters& set, const std::string& entity);

struct Ranked {
  std::string entity;
  CounterValues sums;
};

struct Page {
  std::vector<Ranked> rows;
  /// The `after` of the next page; empty if there is none.
  std::string next;
};

/// OK if `after` is empty or what a page gives as `next`, else kBadValue.
Status CheckRankCursor(const std::string& after);

/// Entities by active_tvl, highest first, equal ones by name. `after` is the `next` of the page before, or empty. A
/// page starts behind the last row of the one before by value and name, so changes in between neither repeat nor skip
/// an entity that stayed where it was. Costs what the page costs, plus what was changed since an ingest last ended; in
/// a store that no ingest of this version has opened, it reads the whole set, with memory for one page.
Result<Page> Rank(Clients& clients, const Tables& tables, const Counters& set, size_t limit, const std::string& after);

struct ShardInfo {
  std::string shard;
  CounterValues sums;    // of overall_stats; a shard alone may be negative
  std::string owner;     // empty: no owner
  int64_t owned_ms = 0;  // how long from now
};

Result<std::vector<ShardInfo>> DescribeShards(Clients& clients, const Tables& tables);

}  // namespace braid::staking
