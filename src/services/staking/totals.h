// What a batch adds to the counters, gathered first and written at once (A6).
#pragma once

#include <vector>

#include "services/staking/delegation.h"
#include "services/staking/tables.h"

namespace braid::staking {

/// What a delegation's event adds: plus when it becomes active, minus of the active part when it is unbonded.
CounterValues Effect(const Delegation& delegation, State state);

class Totals {
 public:
  /// The effect of `state` on the counters of the calculations in `bits`.
  void Add(const Delegation& delegation, State state, uint32_t bits);
  /// A staker's first delegation counts the staker too.
  Status Write(Transaction& transaction, const Tables& tables, uint32_t shard) const;

 private:
  Counters::Increment overall_;
  std::vector<Counters::Increment> providers_;
  std::vector<Counters::Increment> stakers_;
};

}  // namespace braid::staking
