// The stored record of a delegation, from which every total can be recomputed (A9), and the effects of its events on
// the counters, which are gathered and then written together (A6).
#pragma once

#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/transaction.h"
#include "client/handles.h"
#include "services/staking/event.h"
#include "services/staking/tables.h"

namespace braid::staking {

/// {_id: hash, staker_pk_hex, finality_provider_pk_hex, staking_value, state, timestamp}
struct Delegation {
  std::string hash;
  std::string staker;
  std::string finality_provider;
  int64_t value = 0;
  State state = State::kActive;
  std::optional<int64_t> timestamp;

  static Delegation Of(const Event& event);
  static Delegation Read(const bson_t& document);
};

using Delegations = std::unordered_map<std::string, Delegation>;

/// Those of the hashes that are known.
Result<Delegations> ReadDelegations(Transaction& transaction, std::span<const std::string> hashes);

/// Delegations to be inserted and to be marked as unbonded, sent together.
class DelegationWrites {
 public:
  void Insert(const Delegation& delegation);
  void Unbond(const std::string& hash);
  Status Send(Transaction& transaction);

 private:
  std::deque<client::Bson> documents_;
  std::vector<const bson_t*> inserts_;
  std::vector<Transaction::Update> updates_;
};

/// Gathers the effects of delegations' events: they add when the delegation becomes active, and subtract the active
/// part when it is unbonded.
CounterValues Effect(const Delegation& delegation, State state);

class Totals {
 public:
  /// The effect of `state` on the counters of the calculations in `bits`.
  void Add(const Delegation& delegation, State state, uint32_t bits);
  /// A staker's first delegation counts the staker too. kOverflow if a total would not fit in 64 bits.
  Status Write(Transaction& transaction, const Tables& tables, uint32_t shard) const;

 private:
  WideSums overall_;
  /// True if another program has counted the totals of an event but not its staker, or the other way round.
  bool divided_ = false;
  std::vector<Counters::Increment> providers_;
  std::vector<Counters::Increment> stakers_;
};

}  // namespace braid::staking
