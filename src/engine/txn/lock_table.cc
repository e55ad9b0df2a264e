#include "engine/txn/lock_table.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace braid::txn {

uint64_t LockTable::HashOf(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

void LockTable::CloseView() {
  const uint64_t before = views_.fetch_sub(1);
  BRAID_ASSERT(before > 0);
}

bool LockTable::IsChangedAfter(const Stripe& stripe, uint64_t hash, storage::LogPosition read_at) {
  if (stripe.newest <= read_at) return false;  // nothing in the stripe is
  const storage::LogPosition* at = stripe.changed.Find(hash);
  if (at == nullptr) at = stripe.changed_before.Find(hash);
  return (at == nullptr ? stripe.forgotten : *at) > read_at;
}

Result<bool> LockTable::Lock(LockOwner owner, uint64_t hash, storage::LogPosition read_at) {
  static const Status held(Code::kWriteConflict, "WriteConflict: another operation is changing the same document");
  static const Status changed(Code::kWriteConflict,
                              "WriteConflict: the document was changed after the transaction began");
  Stripe& stripe = StripeOf(hash);
  const MutexLock lock(stripe.mu);
  const auto [holder, inserted] = stripe.held.TryEmplace(hash, owner);
  if (!inserted && *holder != owner) return held;
  if (inserted && read_at != kNewest && IsChangedAfter(stripe, hash, read_at)) {
    stripe.held.Erase(hash);
    return changed;
  }
  return inserted;
}

Status LockTable::Wait(LockOwner owner, uint64_t hash, Operation& operation) {
  Stripe& stripe = StripeOf(hash);
  Waiter waiter{owner, &operation};
  const MutexLock lock(stripe.mu);
  const auto [holder, is_free] = stripe.held.TryEmplace(hash, owner);
  if (is_free) return {};
  BRAID_ASSERT(*holder != owner);  // otherwise it would wait for itself
  stripe.waiting[hash].push_back(&waiter);
  ++operation.cost.conflicts;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  const auto began = std::chrono::steady_clock::now();
  Status status = AwaitGrant(stripe, hash, waiter);
  const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - began;
  waited_nanos_.fetch_add(waited.count(), std::memory_order_relaxed);
  waits_.fetch_add(1, std::memory_order_relaxed);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return status;
}

LockTable::Figures LockTable::figures() const {
  return {waiting_.load(std::memory_order_relaxed), waits_.load(std::memory_order_relaxed),
          std::chrono::nanoseconds(waited_nanos_.load(std::memory_order_relaxed))};
}

// The waiter is in the key's queue, and the stripe locked, as it is on return. On an error the waiter has left the
// queue.
Status LockTable::AwaitGrant(Stripe& stripe, uint64_t hash, Waiter& waiter) {
  while (true) {
    stripe.mu.Unlock();
    const Status status = waiter.operation->Wait();
    stripe.mu.Lock();
    if (waiter.granted) {
      const LockOwner* const holder = stripe.held.Find(hash);
      BRAID_ASSERT(holder != nullptr && *holder == waiter.owner);
      return {};
    }
    if (status.ok()) continue;
    const auto queue = stripe.waiting.find(hash);
    BRAID_ASSERT(queue != stripe.waiting.end());
    std::erase(queue->second, &waiter);
    if (queue->second.empty()) stripe.waiting.erase(queue);
    return status;
  }
}

// The key goes to the first waiter, or becomes free.
void LockTable::Release(Stripe& stripe, LockOwner owner, uint64_t hash) {
  LockOwner* const held = stripe.held.Find(hash);
  BRAID_ASSERT(held != nullptr && *held == owner);
  const auto queue = stripe.waiting.empty() ? stripe.waiting.end() : stripe.waiting.find(hash);
  if (queue == stripe.waiting.end()) {
    stripe.held.Erase(hash);
    return;
  }
  BRAID_ASSERT(!queue->second.empty());
  Waiter* const first = queue->second.front();
  queue->second.pop_front();
  if (queue->second.empty()) stripe.waiting.erase(queue);
  *held = first->owner;
  first->granted = true;
  first->operation->Wake();  // under the stripe's lock, which the waiter takes before it goes on
}

void LockTable::Remember(Stripe& stripe, uint64_t hash, storage::LogPosition changed_at) {
  if (stripe.changed.size() >= kChangedMax) {
    stripe.forgotten = stripe.newest_before;
    stripe.newest_before = stripe.newest;
    stripe.changed_before = std::exchange(stripe.changed, LockMap());
  }
  *stripe.changed.TryEmplace(hash, changed_at).first = changed_at;
  stripe.newest = std::max(stripe.newest, changed_at);
}

// In a large transaction those of one stripe together: its lock is taken once, and its map stays in the processor's
// cache.
void LockTable::Unlock(LockOwner owner, std::span<const uint64_t> hashes, storage::LogPosition changed_at) {
  // Not a plain load: either this finds the view that was opened before the commit, or the view's snapshot, taken after
  // it was opened, has the commit.
  const bool remember = changed_at > 0 && !hashes.empty() && views_.fetch_add(0) > 0;
  const auto unlock = [&](Stripe& stripe, std::span<const uint64_t> of_stripe) {
    const MutexLock lock(stripe.mu);
    for (const uint64_t hash : of_stripe) {
      if (remember) Remember(stripe, hash, changed_at);
      Release(stripe, owner, hash);
    }
  };
  if (hashes.size() < kStripes) {
    for (const uint64_t& hash : hashes) unlock(StripeOf(hash), {&hash, 1});
    return;
  }
  std::array<size_t, kStripes + 1> ends{};  // first the number of each, then where the next one goes
  for (const uint64_t hash : hashes) ++ends[hash % kStripes + 1];
  for (size_t i = 1; i <= kStripes; ++i) ends[i] += ends[i - 1];
  std::vector<uint64_t> sorted(hashes.size());
  for (const uint64_t hash : hashes) sorted[ends[hash % kStripes]++] = hash;
  size_t begin = 0;
  for (size_t i = 0; i < kStripes; ++i) {
    if (ends[i] > begin) unlock(stripes_[i], std::span(sorted).subspan(begin, ends[i] - begin));
    begin = ends[i];
  }
}

}  // namespace braid::txn
