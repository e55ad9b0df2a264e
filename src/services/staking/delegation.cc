#include "services/staking/delegation.h"

#include "client/fields.h"
#include "services/staking/tables.h"

namespace braid::staking {

using client::Bson;

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
  BRAID_CHECK_OK(transaction.Insert(kDelegations, inserts_));
  return transaction.UpdateOnes(kDelegations, updates_).status();
}

}  // namespace braid::staking
