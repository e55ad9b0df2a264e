// Leases: which process may extend a chain, and the epoch that fences off the previous owner (C10).
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/parts.h"

namespace braid {

using client::Bson;

namespace {

LeaseInfo LeaseOf(const bson_t& document) {
  return {.chain = client::IntegerOf(&document, "_id"),
          .owner = std::string(client::TextOf(&document, "owner")),
          .epoch = client::IntegerOf(&document, "epoch"),
          .expires_at_ms = client::DateOf(&document, "expires_at").value_or(0)};
}

Status FindLease(Transaction& transaction, const std::string& leases, int64_t chain, std::optional<LeaseInfo>& lease) {
  Bson filter;
  filter.Integer("_id", chain);
  return transaction.Find(leases, filter.get(), [&](const bson_t& document) {
    lease = LeaseOf(document);
    return Status();
  });
}

Status PutLease(Transaction& transaction, const std::string& leases, const LeaseInfo& lease) {
  Bson filter;
  filter.Integer("_id", lease.chain);
  Bson fields;
  fields.Text("owner", lease.owner).Integer("epoch", lease.epoch).Date("expires_at", lease.expires_at_ms);
  Bson change;
  change.Document("$set", fields);
  const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
  return transaction.UpdateOnes(leases, {&update, 1}).status();
}

// The head's epoch is the fence: incrementing it shuts out the previous owner.
Status RaiseEpoch(Transaction& transaction, const std::string& heads, int64_t chain, int64_t& epoch) {
  Bson filter;
  filter.Integer("_id", chain);
  Bson one;
  one.Integer("epoch", 1);
  Bson change;
  change.Document("$inc", one);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  BRAID_CHECK_OK(transaction.UpdateOnes(heads, {&update, 1}));
  return transaction.Find(heads, filter.get(), [&](const bson_t& document) {
    epoch = client::IntegerOf(&document, "epoch");
    return Status();
  });
}

}  // namespace

Result<int64_t> Chains::AcquireLease(int64_t chain) {
  const std::string& owner = parts_->options.owner;
  if (owner.empty()) return Status(Code::kIllegalOperation, "leases need ChainsOptions::owner");
  chains::ChainState& state = parts_->StateOf(chain);
  const std::lock_guard lock(state.mu);
  BRAID_CHECK_OK(parts_->CreateHead(chain));
  int64_t epoch = 0;
  BRAID_CHECK_OK(
      RunTransaction(parts_->clients, {.database = parts_->options.database}, [&](Transaction& transaction) -> Status {
        const int64_t now_ms = parts_->clock.NowMillis();
        std::optional<LeaseInfo> current;
        BRAID_CHECK_OK(FindLease(transaction, parts_->leases, chain, current));
        if (current && current->owner != owner && current->expires_at_ms > now_ms) {
          return Status(Code::kConflictingOperationInProgress,
                        StrCat("chain ", chain, " is leased to ", current->owner, " for another ",
                               current->expires_at_ms - now_ms, " ms"));
        }
        BRAID_CHECK_OK(RaiseEpoch(transaction, parts_->heads, chain, epoch));
        return PutLease(transaction, parts_->leases, {chain, owner, epoch, now_ms + parts_->options.lease_ttl.count()});
      }));
  state.lease.store(epoch);
  state.known = false;
  return epoch;
}

Result<std::vector<int64_t>> Chains::RenewLeases() {
  std::vector<std::pair<int64_t, int64_t>> held;  // chain, epoch
  {
    const MutexLock lock(parts_->mu);
    for (const auto& [chain, state] : parts_->states) {
      if (const int64_t epoch = state->lease.load(); epoch > 0) held.emplace_back(chain, epoch);
    }
  }
  if (held.empty()) return std::vector<int64_t>();
  Bson filter;
  filter.Text("owner", parts_->options.owner);
  std::vector<std::pair<int64_t, int64_t>> ours;
  BRAID_CHECK_OK(
      RunTransaction(parts_->clients, {.database = parts_->options.database}, [&](Transaction& transaction) -> Status {
        ours.clear();
        BRAID_CHECK_OK(transaction.Find(parts_->leases, filter.get(), [&](const bson_t& document) {
          const LeaseInfo lease = LeaseOf(document);
          ours.emplace_back(lease.chain, lease.epoch);
          return Status();
        }));
        const int64_t until = parts_->clock.NowMillis() + parts_->options.lease_ttl.count();
        for (const auto& [chain, epoch] : held) {
          if (std::find(ours.begin(), ours.end(), std::pair(chain, epoch)) == ours.end()) continue;
          // The lease was released meanwhile. If the release commits after this read, the transaction conflicts and
          // reads again.
          if (parts_->StateOf(chain).lease.load() != epoch) continue;
          BRAID_CHECK_OK(PutLease(transaction, parts_->leases, {chain, parts_->options.owner, epoch, until}));
        }
        return {};
      }));
  std::vector<int64_t> lost;
  for (auto [chain, epoch] : held) {
    if (std::find(ours.begin(), ours.end(), std::pair(chain, epoch)) != ours.end()) continue;
    if (parts_->StateOf(chain).lease.compare_exchange_strong(epoch, 0)) lost.push_back(chain);
  }
  return lost;
}

Status Chains::ReleaseLease(int64_t chain) {
  chains::ChainState& state = parts_->StateOf(chain);
  const std::lock_guard lock(state.mu);  // wait for a commit of this chain to finish
  const int64_t epoch = state.lease.exchange(0);
  if (epoch == 0) return {};
  return RunTransaction(parts_->clients, {.database = parts_->options.database},
                        [&](Transaction& transaction) -> Status {
                          std::optional<LeaseInfo> current;
                          BRAID_CHECK_OK(FindLease(transaction, parts_->leases, chain, current));
                          if (!current || current->owner != parts_->options.owner || current->epoch != epoch) return {};
                          return PutLease(transaction, parts_->leases, {chain, parts_->options.owner, epoch, 0});
                        });
}

Result<std::vector<LeaseInfo>> Chains::Leases() {
  const Bson all;
  Bson sort;
  sort.Integer("_id", 1);
  std::vector<LeaseInfo> leases;
  BRAID_CHECK_OK(RunTransaction(parts_->clients, {.database = parts_->options.database}, [&](Transaction& transaction) {
    leases.clear();
    return transaction.Find(parts_->leases, all.get(), {.sort = sort.get()}, [&](const bson_t& document) {
      leases.push_back(LeaseOf(document));
      return Status();
    });
  }));
  return leases;
}

}  // namespace braid
