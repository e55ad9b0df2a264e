// LockTable: which keys are being changed. Held from before a key is read for a change until the change is committed.
// And which keys were changed lately, for those who read an older state and must not change them too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "braid/status.h"
#include "engine/storage/store.h"

namespace braid::txn {

using LockOwner = uint64_t;

/// Never waits: a key that somebody else holds is kWriteConflict at once, and the caller decides whether to let go of
/// its own locks and try again (a plain statement) or to give up (a transaction). So there is no cycle of waiting. Keys
/// are locked by a 64-bit hash: two keys that collide only conflict without need. Any thread.
class LockTable {
 public:
  static uint64_t HashOf(std::string_view key);

  /// From here on changes are remembered, until CloseView: called before the snapshot is taken that the view reads.
  void OpenView() { views_.fetch_add(1); }
  void CloseView() { views_.fetch_sub(1); }

  /// True if the lock is new, false if `owner` held it already. kWriteConflict also if the key was changed after
  /// `read_at`, the position of an open view; or may have been: if very many keys were changed, not all are remembered.
  Result<bool> Lock(LockOwner owner, uint64_t hash, storage::LogPosition read_at = kNewest);
  /// Lets go of keys. `changed_at` is the commit that changed them; 0: none did.
  void Unlock(std::span<const uint64_t> hashes, storage::LogPosition changed_at);

 private:
  static constexpr storage::LogPosition kNewest = UINT64_MAX;
  static constexpr size_t kStripes = 64;
  static constexpr size_t kChangedMax = 8192;  // of a stripe
  struct Stripe {
    std::mutex mu;
    std::unordered_map<uint64_t, LockOwner> held;
    std::unordered_map<uint64_t, storage::LogPosition> changed;
    storage::LogPosition newest = 0;     // that was ever in `changed`
    storage::LogPosition forgotten = 0;  // changes up to here may be missing in `changed`
  };
  Stripe& StripeOf(uint64_t hash) { return stripes_[hash % kStripes]; }
  static storage::LogPosition ChangedAt(const Stripe& stripe, uint64_t hash);

  std::array<Stripe, kStripes> stripes_;
  std::atomic<uint64_t> views_{0};
};

}  // namespace braid::txn
