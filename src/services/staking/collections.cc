#include "services/staking/collections.h"

#include <vector>

#include "services/staking/tables.h"

namespace braid::staking {

std::span<const schema::CollectionSpec> Collections() {
  static const std::vector<schema::CollectionSpec> collections = {
      {.name = "stats_lock"},   {.name = "overall_stats"}, {.name = "finality_providers_stats"},
      {.name = "staker_stats"}, {.name = kDelegations},    {.name = kPending},
      {.name = kUnprocessable}, {.name = "counter_sets"},  {.name = "counter_leases"},
  };
  return collections;
}

}  // namespace braid::staking
