#include "services/staking/batch.h"

#include <unordered_set>

#include "base/assert.h"
#include "base/strings.h"
#include "braid/clock.h"
#include "client/fields.h"
#include "services/staking/delegation.h"

namespace braid::staking {
namespace {

using client::Bson;

std::string LockIdOf(std::string_view hash, State state) { return StrCat(hash, ":", NameOf(state)); }

std::vector<std::string> LockIds(std::span<const Delegation* const> delegations, State state) {
  std::vector<std::string> ids;
  ids.reserve(delegations.size());
  for (const Delegation* delegation : delegations) ids.push_back(LockIdOf(delegation->hash, state));
  return ids;
}

Result<std::unordered_set<std::string>> ReadPending(Transaction& transaction, std::span<const std::string> hashes) {
  std::unordered_set<std::string> pending;
  BRAID_CHECK_OK(transaction.FindIds(kPending, hashes, [&](const bson_t& document) {
    pending.emplace(client::TextOf(&document, "_id"));
    return Status();
  }));
  return pending;
}

Status RemovePending(Transaction& transaction, std::span<const std::string> hashes) {
  if (hashes.empty()) return {};
  Bson in;
  in.Texts("$in", hashes);
  Bson filter;
  filter.Document("_id", in);
  return transaction.Remove(kPending, filter.get());
}

// Takes the unbonded ones out of the totals, in those calculations in which it was not done before. Their active part
// must be done in all of them.
Status TakeOut(Transaction& transaction, const Tables& tables, std::span<const Delegation* const> unbonded,
               Totals& totals) {
  BRAID_TRY(const auto claimed, tables.locks.Claim(transaction, LockIds(unbonded, State::kUnbonded)));
  BRAID_ASSERT(claimed.size() == unbonded.size());
  for (size_t i = 0; i < unbonded.size(); ++i) totals.Add(*unbonded[i], State::kUnbonded, claimed[i].missing);
  return {};
}

// Empty if the event says what the delegation has.
std::string Contradiction(const Event& event, const Delegation& delegation) {
  std::string reason;
  const auto differs = [&](const char* field, const auto& says, const auto& has) {
    if (says == has) return;
    reason += StrCat(reason.empty() ? "" : "; ", field, " is ", says, ", but the delegation of this hash has ", has);
  };
  differs("staking_value", event.value, delegation.value);
  differs("staker_pk_hex", event.staker, delegation.staker);
  differs("finality_provider_pk_hex", event.finality_provider, delegation.finality_provider);
  return reason;
}

// Active events of keys that were known before: half done, or awaited because their unbonded came first (A6).
class Reawakened {
 public:
  void Add(const Event& event, uint32_t missing) {
    BRAID_ASSERT(missing != 0);  // what is done in every calculation is a duplicate
    events_.push_back(&event);
    missing_.push_back(missing);
    hashes_.push_back(event.hash);
  }

  Status Apply(Transaction& transaction, const Tables& tables, Totals& totals, Outcome& outcome,
               std::vector<Conflict>& conflicts) {
    BRAID_ASSERT(missing_.size() == events_.size() && hashes_.size() == events_.size());
    if (events_.empty()) return {};
    BRAID_TRY(Delegations known, ReadDelegations(transaction, hashes_));
    BRAID_TRY(const auto pending, ReadPending(transaction, hashes_));
    DelegationWrites writes;
    std::vector<const Delegation*> unbonded;
    std::vector<std::string> released;
    for (size_t i = 0; i < events_.size(); ++i) {
      auto [place, is_new] = known.try_emplace(hashes_[i], Delegation::Of(*events_[i]));
      Delegation& delegation = place->second;
      if (std::string reason = Contradiction(*events_[i], delegation); !reason.empty()) {
        conflicts.push_back({.line = events_[i]->line, .reason = std::move(reason)});
        BRAID_ASSERT(outcome.accepted > 0);
        --outcome.accepted;
        ++outcome.conflicting;
      }
      const bool was_pending = pending.contains(hashes_[i]);
      if (was_pending) released.push_back(hashes_[i]);
      if (was_pending && !is_new && delegation.state == State::kActive) writes.Unbond(hashes_[i]);
      if (was_pending) delegation.state = State::kUnbonded;
      if (is_new) writes.Insert(delegation);
      totals.Add(delegation, State::kActive, missing_[i]);
      if (delegation.state == State::kUnbonded) unbonded.push_back(&delegation);
    }
    outcome.released += released.size();
    BRAID_CHECK_OK(writes.Send(transaction));
    BRAID_CHECK_OK(RemovePending(transaction, released));
    return TakeOut(transaction, tables, unbonded, totals);
  }

 private:
  std::vector<const Event*> events_;
  std::vector<uint32_t> missing_;
  std::vector<std::string> hashes_;
};

// Unbonded events that came before their active.
Status Park(Transaction& transaction, const Tables& tables, std::span<const Event* const> events, Outcome& outcome) {
  if (events.empty()) return {};
  std::vector<std::string> hashes;
  for (const Event* event : events) hashes.push_back(event->hash);
  BRAID_TRY(auto pending, ReadPending(transaction, hashes));
  std::deque<Bson> documents;
  std::vector<const bson_t*> inserts;
  std::vector<std::string> awaited;
  for (const Event* event : events) {
    if (!pending.insert(event->hash).second) {
      ++outcome.duplicate;
      continue;
    }
    ++outcome.parked;
    Bson& document = documents.emplace_back();
    document.Text("_id", event->hash).Text("event_type", NameOf(State::kUnbonded));
    if (event->timestamp) document.Integer("timestamp", *event->timestamp);
    document.Date("received_at", Clock::System().NowMillis());
    inserts.push_back(document.get());
    awaited.push_back(LockIdOf(event->hash, State::kActive));
  }
  BRAID_CHECK_OK(transaction.Insert(kPending, inserts));
  return tables.locks.Await(transaction, awaited);
}

// Events of known keys that contradict their delegation are not duplicates. An event without a delegation, which
// another program may have left, cannot be compared.
Status FindConflicts(Transaction& transaction, std::span<const Event* const> repeated, Outcome& outcome,
                     std::vector<Conflict>& conflicts) {
  std::vector<std::string> hashes;
  hashes.reserve(repeated.size());
  for (const Event* event : repeated) hashes.push_back(event->hash);
  BRAID_TRY(const Delegations known, ReadDelegations(transaction, hashes));
  for (const Event* event : repeated) {
    const auto place = known.find(event->hash);
    std::string reason = place == known.end() ? std::string() : Contradiction(*event, place->second);
    ++(reason.empty() ? outcome.duplicate : outcome.conflicting);
    if (!reason.empty()) conflicts.push_back({.line = event->line, .reason = std::move(reason)});
  }
  return {};
}

// With `look`, every delegation is looked up, and not only those of known keys.
Result<Outcome> ApplyActiveEvents(Transaction& transaction, const Tables& tables, uint32_t shard,
                                  std::span<const Event> events, std::vector<Conflict>& conflicts, bool look) {
  conflicts.clear();
  std::vector<std::string> ids;
  ids.reserve(events.size());
  for (const Event& event : events) ids.push_back(event.LockId());
  BRAID_TRY(const auto claimed, tables.locks.Claim(transaction, ids));
  BRAID_ASSERT(claimed.size() == events.size());
  Outcome outcome;
  Totals totals;
  DelegationWrites writes;
  Reawakened reawakened;
  std::vector<const Event*> repeated;
  for (size_t i = 0; i < events.size(); ++i) {
    if (claimed[i].missing == 0) {
      repeated.push_back(&events[i]);
      continue;
    }
    ++outcome.accepted;
    if (claimed[i].known || look) {
      reawakened.Add(events[i], claimed[i].missing);
      continue;
    }
    const Delegation delegation = Delegation::Of(events[i]);
    writes.Insert(delegation);
    totals.Add(delegation, State::kActive, claimed[i].missing);
  }
  BRAID_CHECK_OK(writes.Send(transaction));
  BRAID_CHECK_OK(reawakened.Apply(transaction, tables, totals, outcome, conflicts));
  BRAID_CHECK_OK(FindConflicts(transaction, repeated, outcome, conflicts));
  // Every event is counted exactly once.
  BRAID_ASSERT(outcome.accepted + outcome.duplicate + outcome.conflicting == events.size());
  BRAID_CHECK_OK(totals.Write(transaction, tables, shard));
  return outcome;
}

}  // namespace

Outcome& Outcome::operator+=(const Outcome& other) {
  accepted += other.accepted;
  duplicate += other.duplicate;
  conflicting += other.conflicting;
  parked += other.parked;
  rejected += other.rejected;
  released += other.released;
  return *this;
}

Result<Outcome> ApplyActive(Transaction& transaction, const Tables& tables, uint32_t shard,
                            std::span<const Event> events, std::vector<Conflict>& conflicts) {
  return ApplyActiveEvents(transaction, tables, shard, events, conflicts, false);
}

Result<Outcome> ApplyActiveLooking(Transaction& transaction, const Tables& tables, uint32_t shard,
                                   std::span<const Event> events, std::vector<Conflict>& conflicts) {
  return ApplyActiveEvents(transaction, tables, shard, events, conflicts, true);
}

Result<Outcome> ApplyUnbonded(Transaction& transaction, const Tables& tables, uint32_t shard,
                              std::span<const Event> events, std::vector<Conflict>& conflicts) {
  conflicts.clear();  // an unbonded event has nothing that could contradict the delegation
  std::vector<std::string> hashes;
  hashes.reserve(events.size());
  for (const Event& event : events) hashes.push_back(event.hash);
  BRAID_TRY(Delegations known, ReadDelegations(transaction, hashes));
  Outcome outcome;
  std::vector<const Event*> early;
  std::vector<Delegation*> delegations;
  for (const Event& event : events) {
    if (const auto place = known.find(event.hash); place == known.end()) {
      early.push_back(&event);
    } else {
      delegations.push_back(&place->second);
    }
  }
  // Only what its active event has added may be subtracted; the rest is done when that event is resumed.
  BRAID_TRY(const auto added,
            tables.locks.Done(transaction, LockIds({delegations.data(), delegations.size()}, State::kActive)));
  BRAID_TRY(
      const auto claimed,
      tables.locks.Claim(transaction, LockIds({delegations.data(), delegations.size()}, State::kUnbonded), added));
  BRAID_ASSERT(added.size() == delegations.size() && claimed.size() == delegations.size());
  Totals totals;
  DelegationWrites writes;
  for (size_t i = 0; i < delegations.size(); ++i) {
    Delegation& delegation = *delegations[i];
    const bool first = delegation.state == State::kActive;
    ++(first || claimed[i].missing != 0 ? outcome.accepted : outcome.duplicate);
    totals.Add(delegation, State::kUnbonded, claimed[i].missing);
    if (!first) continue;
    writes.Unbond(delegation.hash);
    delegation.state = State::kUnbonded;
  }
  BRAID_CHECK_OK(writes.Send(transaction));
  BRAID_CHECK_OK(Park(transaction, tables, early, outcome));
  BRAID_ASSERT(outcome.accepted + outcome.duplicate + outcome.parked == events.size());
  BRAID_CHECK_OK(totals.Write(transaction, tables, shard));
  return outcome;
}

Result<Outcome> Resume(Transaction& transaction, const Tables& tables, uint32_t shard,
                       std::span<const std::string> hashes) {
  BRAID_TRY(const Delegations known, ReadDelegations(transaction, hashes));
  std::vector<const Delegation*> all;
  std::vector<const Delegation*> unbonded;
  for (const auto& [hash, delegation] : known) {
    all.push_back(&delegation);
    if (delegation.state == State::kUnbonded) unbonded.push_back(&delegation);
  }
  Totals totals;
  Outcome outcome;
  BRAID_TRY(const auto claimed, tables.locks.Claim(transaction, LockIds(all, State::kActive)));
  BRAID_ASSERT(claimed.size() == all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    ++(claimed[i].missing != 0 ? outcome.accepted : outcome.duplicate);
    totals.Add(*all[i], State::kActive, claimed[i].missing);
  }
  BRAID_CHECK_OK(TakeOut(transaction, tables, unbonded, totals));
  BRAID_CHECK_OK(totals.Write(transaction, tables, shard));
  return outcome;
}

}  // namespace braid::staking
