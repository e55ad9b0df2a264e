#include "services/staking/totals.h"

namespace braid::staking {

CounterValues Effect(const Delegation& delegation, State state) {
  CounterValues by{};
  const int64_t sign = state == State::kActive ? 1 : -1;
  by[kActiveTvl] = sign * delegation.value;
  by[kActiveDelegations] = sign;
  if (state == State::kActive) {
    by[kTotalTvl] = delegation.value;
    by[kTotalDelegations] = 1;
  }
  return by;
}

void Totals::Add(const Delegation& delegation, State state, uint32_t bits) {
  const CounterValues by = Effect(delegation, state);
  if ((bits & kOverall) != 0) {
    for (size_t i = 0; i < kCounterFieldsMax; ++i) overall_.by[i] += by[i];
  }
  if ((bits & kFinalityProvider) != 0) providers_.push_back({.entity = delegation.finality_provider, .by = by});
  if ((bits & kStaker) != 0) stakers_.push_back({.entity = delegation.staker, .by = by});
}

Status Totals::Write(Transaction& transaction, const Tables& tables, uint32_t shard) const {
  Counters::Increment overall = overall_;
  BRAID_TRY(overall.by[kTotalStakers], tables.stakers->AddCountingNew(transaction, shard, stakers_));
  BRAID_CHECK_OK(tables.providers->Add(transaction, shard, providers_));
  return tables.overall->Add(transaction, shard, {&overall, 1});
}

}  // namespace braid::staking
