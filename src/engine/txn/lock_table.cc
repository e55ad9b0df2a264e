#include "engine/txn/lock_table.h"

#include <functional>

namespace braid::txn {

uint64_t LockTable::HashOf(std::string_view key) { return std::hash<std::string_view>()(key); }

Result<bool> LockTable::Lock(LockOwner owner, uint64_t hash) {
  Stripe& stripe = StripeOf(hash);
  std::lock_guard lock(stripe.mu);
  const auto [it, inserted] = stripe.held.try_emplace(hash, owner);
  if (!inserted && it->second != owner) {
    static const Status conflict(Code::kWriteConflict,
                                 "WriteConflict: another operation is changing the same document");
    return conflict;
  }
  return inserted;
}

void LockTable::Unlock(uint64_t hash) {
  Stripe& stripe = StripeOf(hash);
  std::lock_guard lock(stripe.mu);
  stripe.held.erase(hash);
}

}  // namespace braid::txn
