// The logical shards as they are: for people who wonder whether there are enough (A1–A3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/staking/tables.h"

namespace braid::staking {

struct ShardInfo {
  std::string shard;
  CounterValues sums{};  // of overall_stats; a shard alone may be negative
  std::string owner;     // empty: nobody
  int64_t owned_ms = 0;  // how long from now
};

Result<std::vector<ShardInfo>> DescribeShards(Clients& clients, const Tables& tables);

}  // namespace braid::staking
