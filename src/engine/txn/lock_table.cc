#include "engine/txn/lock_table.h"

#include <algorithm>
#include <functional>

namespace braid::txn {

uint64_t LockTable::HashOf(std::string_view key) { return std::hash<std::string_view>()(key); }

storage::LogPosition LockTable::ChangedAt(const Stripe& stripe, uint64_t hash) {
  const auto at = stripe.changed.find(hash);
  return at == stripe.changed.end() ? stripe.forgotten : at->second;
}

Result<bool> LockTable::Lock(LockOwner owner, uint64_t hash, storage::LogPosition read_at) {
  static const Status held(Code::kWriteConflict, "WriteConflict: another operation is changing the same document");
  static const Status changed(Code::kWriteConflict,
                              "WriteConflict: the document was changed after the transaction began");
  Stripe& stripe = StripeOf(hash);
  std::lock_guard lock(stripe.mu);
  const auto [it, inserted] = stripe.held.try_emplace(hash, owner);
  if (!inserted && it->second != owner) return held;
  if (inserted && read_at != kNewest && ChangedAt(stripe, hash) > read_at) {
    stripe.held.erase(it);
    return changed;
  }
  return inserted;
}

void LockTable::Unlock(std::span<const uint64_t> hashes, storage::LogPosition changed_at) {
  // Not a plain load: either this finds the view that was opened before the commit, or the view's snapshot, taken after
  // it was opened, has the commit.
  const bool remember = changed_at > 0 && !hashes.empty() && views_.fetch_add(0) > 0;
  for (const uint64_t hash : hashes) {
    Stripe& stripe = StripeOf(hash);
    std::lock_guard lock(stripe.mu);
    if (remember) {
      if (stripe.changed.size() >= kChangedMax) {
        stripe.changed.clear();
        stripe.forgotten = stripe.newest;
      }
      stripe.changed[hash] = changed_at;
      stripe.newest = std::max(stripe.newest, changed_at);
    }
    stripe.held.erase(hash);
  }
}

}  // namespace braid::txn
