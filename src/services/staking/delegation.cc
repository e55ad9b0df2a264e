#include "services/staking/delegation.h"

#include <algorithm>

#include "base/assert.h"
#include "client/fields.h"
#include "services/staking/tables.h"

namespace braid::staking {
namespace {

using client::Bson;

// Counts stakers that are known but were not counted; `counted` of them were counted in this transaction. The flags of
// another program do not tell whether it counts a staker with the totals, with the staker or not at all. So
// total_stakers is raised to the number of stakers, and left alone if it is higher, because other events of that
// program may still have to be resumed. Reads all stakers.
Result<int64_t> CountMissed(Transaction& transaction, const Tables& tables, int64_t counted) {
  BRAID_TRY(const WideSums sums, tables.overall->SumWide(transaction, ""));
  WideSum known = 0;
  BRAID_CHECK_OK(tables.stakers->ForEach(transaction, [&](const Counters::Entity&) {
    ++known;
    return Status();
  }));
  return static_cast<int64_t>(std::max<WideSum>(0, known - sums[kTotalStakers] - counted));
}

}  // namespace

Delegation Delegation::Of(const Event& event) {
  return {.hash = event.hash,
          .staker = event.staker,
          .finality_provider = event.finality_provider,
          .value = event.value,
          .timestamp = event.timestamp};
}

Delegation Delegation::Read(const bson_t& document) {
  Delegation delegation{.hash = std::string(client::TextOf(&document, "_id")),
                        .staker = std::string(client::TextOf(&document, "staker_pk_hex")),
                        .finality_provider = std::string(client::TextOf(&document, "finality_provider_pk_hex")),
                        .value = client::IntegerOf(&document, "staking_value")};
  if (client::TextOf(&document, "state") == NameOf(State::kUnbonded)) delegation.state = State::kUnbonded;
  if (const int64_t at = client::IntegerOf(&document, "timestamp"); at != 0) delegation.timestamp = at;
  return delegation;
}

Result<Delegations> ReadDelegations(Transaction& transaction, std::span<const std::string> hashes) {
  Delegations found;
  found.reserve(hashes.size());
  BRAID_CHECK_OK(transaction.FindIds(kDelegations, hashes, [&](const bson_t& document) {
    Delegation delegation = Delegation::Read(document);
    found.emplace(delegation.hash, std::move(delegation));
    return Status();
  }));
  return found;
}

void DelegationWrites::Insert(const Delegation& delegation) {
  Bson& document = documents_.emplace_back();
  document.Text("_id", delegation.hash)
      .Text("staker_pk_hex", delegation.staker)
      .Text("finality_provider_pk_hex", delegation.finality_provider)
      .Integer("staking_value", delegation.value)
      .Text("state", NameOf(delegation.state));
  if (delegation.timestamp) document.Integer("timestamp", *delegation.timestamp);
  inserts_.push_back(document.get());
}

void DelegationWrites::Unbond(const std::string& hash) {
  Bson state;
  state.Text("state", NameOf(State::kUnbonded));
  const Bson& filter = documents_.emplace_back().Text("_id", hash);
  const Bson& change = documents_.emplace_back().Document("$set", state);
  updates_.push_back({.filter = filter.get(), .change = change.get()});
}

Status DelegationWrites::Send(Transaction& transaction) {
  BRAID_ASSERT(documents_.size() == inserts_.size() + 2 * updates_.size());
  BRAID_CHECK_OK(transaction.Insert(kDelegations, inserts_));
  return transaction.UpdateOnes(kDelegations, updates_).status();
}

CounterValues Effect(const Delegation& delegation, State state) {
  CounterValues by;
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
    for (const auto& [field, value] : by) overall_[field] += value;
  }
  if ((bits & kFinalityProvider) != 0) providers_.push_back({.entity = delegation.finality_provider, .by = by});
  const bool divided = state == State::kActive && ((bits & kOverall) != 0) != ((bits & kStaker) != 0);
  divided_ |= divided;
  if ((bits & kStaker) != 0) {
    stakers_.push_back({.entity = delegation.staker, .by = by, .uncounted = divided});
  } else if (divided) {
    stakers_.push_back({.entity = delegation.staker, .uncounted = true});  // its first document, if it has none
  }
}

Status Totals::Write(Transaction& transaction, const Tables& tables, uint32_t shard) const {
  Counters::Increment overall;
  BRAID_TRY(overall.by, tables.overall->Narrow("", overall_));
  // No other sum, of any shard or entity, is larger than this one: if it fits, all do.
  BRAID_CHECK_OK(tables.overall->ExpectRoom(transaction, shard, kTotalTvl, overall.by[kTotalTvl]));
  int64_t& counted = overall.by[kTotalStakers];
  BRAID_TRY(counted, tables.stakers->AddCountingNew(transaction, shard, stakers_));
  if (divided_) {
    BRAID_TRY(const int64_t missed, CountMissed(transaction, tables, counted));
    counted += missed;
  }
  BRAID_CHECK_OK(tables.providers->Add(transaction, shard, providers_));
  return tables.overall->Add(transaction, shard, {&overall, 1});
}

}  // namespace braid::staking
