// LockTable: which keys are being changed. Held from before a key is read for a change until the change is committed.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/status.h"

namespace braid::txn {

using LockOwner = uint64_t;

/// Never waits: a key that somebody else holds is kWriteConflict at once, and the caller decides whether to let go of
/// its own locks and try again (a plain statement) or to give up (a transaction). So there is no cycle of waiting. Keys
/// are locked by a 64-bit hash: two keys that collide only conflict without need. Any thread.
class LockTable {
 public:
  static uint64_t HashOf(std::string_view key);

  /// True if the lock is new, false if `owner` held it already.
  Result<bool> Lock(LockOwner owner, uint64_t hash);
  void Unlock(uint64_t hash);

 private:
  struct Stripe {
    std::mutex mu;
    std::unordered_map<uint64_t, LockOwner> held;
  };
  Stripe& StripeOf(uint64_t hash) { return stripes_[hash % kStripes]; }

  static constexpr size_t kStripes = 64;
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace braid::txn
