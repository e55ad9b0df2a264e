// LockTable: which keys are being changed. Held from before a key is read for a change until the change is committed.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace braid::txn {

using LockOwner = uint64_t;

/// Keys are locked by a 64-bit hash: two keys that collide only wait for each other without need. Any thread.
class LockTable {
 public:
  /// OK if free or already held by `owner`. Held by a plain statement: waits for it (microseconds). Held by an open
  /// transaction: kWriteConflict at once, so that no thread waits for a client.
  Status Lock(LockOwner owner, std::string_view key, bool by_transaction);
  void Unlock(LockOwner owner, uint64_t hash);
  static uint64_t HashOf(std::string_view key);

 private:
  struct Held {
    LockOwner owner;
    bool by_transaction;
  };
  struct Stripe {
    std::mutex mu;
    std::condition_variable freed;
    std::unordered_map<uint64_t, Held> held;
  };
  static constexpr size_t kStripes = 64;
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace braid::txn
