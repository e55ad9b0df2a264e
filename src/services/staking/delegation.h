// What is kept of a delegation: the record from which every total can be computed again (A9).
#pragma once

#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/transaction.h"
#include "client/handles.h"
#include "services/staking/event.h"

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

}  // namespace braid::staking
