// LockTable: the keys that are being changed, the statements that wait for them in order, and the keys that were
// changed recently, for transactions that read an older state and must not change them, too. A lock is held from before
// a key is read for a change until the change is committed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "braid/status.h"
#include "engine/storage/store.h"
#include "engine/txn/lock_map.h"
#include "engine/txn/operation.h"

namespace braid::txn {

using LockOwner = uint64_t;  // not 0

/// A key that another owner holds is kWriteConflict at once, and the caller decides whether to release its own locks
/// and wait for the key (a plain statement) or to give up (a transaction). So there is no cycle of waiting. Statements
/// that wait get the key one after another in the order in which they came: a lock that is released belongs to the
/// first of them at once. Keys are locked by a 64-bit hash: two keys with the same hash only cause an unnecessary
/// conflict. Any thread.
class LockTable {
 public:
  static uint64_t HashOf(std::string_view key);

  /// From here on changes are remembered, until CloseView: called before the snapshot is taken that the view reads.
  void OpenView() { views_.fetch_add(1); }
  void CloseView();

  /// True if the lock is new, false if `owner` held it already. kWriteConflict also if the key was changed after
  /// `read_at`, the position of an open view; or may have been: if very many keys were changed, not all are remembered.
  Result<bool> Lock(LockOwner owner, uint64_t hash, storage::LogPosition read_at = kNewest);
  /// Waits until `owner`, which must hold no lock, has the key. Returns the error of `operation` if that ends first;
  /// then it does not have the key.
  Status Wait(LockOwner owner, uint64_t hash, Operation& operation);
  /// Figures about waiting.
  struct Figures {
    int64_t waiting = 0;  // now
    uint64_t waits = 0;   // that are over
    std::chrono::nanoseconds waited{0};
  };
  Figures figures() const;

  /// Releases keys that `owner` holds. `changed_at` is the commit that changed them; 0 if none did.
  void Unlock(LockOwner owner, std::span<const uint64_t> hashes, storage::LogPosition changed_at);

 private:
  static constexpr storage::LogPosition kNewest = UINT64_MAX;
  static constexpr size_t kStripes = size_t{1} << LockMap::kStripeBits;
  static constexpr size_t kChangedMax = 4096;  // of a stripe, in each of two maps
  struct Waiter {
    LockOwner owner;
    Operation* operation;
    bool granted = false;  // guarded by the stripe's lock
  };
  struct Stripe {
    Mutex mu;
    LockMap held BRAID_GUARDED_BY(mu);  // owners
    // For keys that are held; no empty queue.
    std::unordered_map<uint64_t, std::deque<Waiter*>> waiting BRAID_GUARDED_BY(mu);
    // Positions. When `changed` is full it replaces `changed_before`, so that a large commit does not push itself out.
    LockMap changed BRAID_GUARDED_BY(mu);
    LockMap changed_before BRAID_GUARDED_BY(mu);
    storage::LogPosition newest BRAID_GUARDED_BY(mu) = 0;         // that was ever in `changed`
    storage::LogPosition newest_before BRAID_GUARDED_BY(mu) = 0;  // the same of `changed_before`
    storage::LogPosition forgotten BRAID_GUARDED_BY(mu) = 0;      // changes up to here may be missing in both
  };
  Stripe& StripeOf(uint64_t hash) { return stripes_[hash % kStripes]; }
  static void Release(Stripe& stripe, LockOwner owner, uint64_t hash) BRAID_REQUIRES(stripe.mu);
  static Status AwaitGrant(Stripe& stripe, uint64_t hash, Waiter& waiter) BRAID_REQUIRES(stripe.mu);
  static void Remember(Stripe& stripe, uint64_t hash, storage::LogPosition changed_at) BRAID_REQUIRES(stripe.mu);
  static bool IsChangedAfter(const Stripe& stripe, uint64_t hash, storage::LogPosition read_at)
      BRAID_REQUIRES(stripe.mu);

  std::array<Stripe, kStripes> stripes_;
  std::atomic<uint64_t> views_{0};
  std::atomic<int64_t> waiting_{0};
  std::atomic<uint64_t> waits_{0};
  std::atomic<int64_t> waited_nanos_{0};
};

}  // namespace braid::txn
