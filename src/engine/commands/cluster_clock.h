// ClusterClock: the logical time of replies ($clusterTime, operationTime). Never goes back, not even over a restart of
// the machine's clock within one run. Snapshots: states at such times that clients may read again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>

#include "base/mutex.h"
#include "braid/clock.h"
#include "engine/storage/store.h"

namespace braid::commands {

/// Timestamps are seconds << 32 | increment. Any thread.
class ClusterClock {
 public:
  explicit ClusterClock(const Clock& clock) : clock_(clock), now_(Seconds() << 32 | 1) {}

  /// The newest time given out.
  uint64_t Now() const { return now_.load(std::memory_order_acquire); }
  /// A time later than every one before: for each write.
  uint64_t Tick();
  /// Notes a time that a client has seen: no later answer has an earlier one. Times far in the future are ignored.
  void Advance(uint64_t seen);

 private:
  uint64_t Seconds() const { return static_cast<uint64_t>(clock_.NowMillis() / 1000); }
  const Clock& clock_;
  std::atomic<uint64_t> now_;
};

/// The states for readConcern snapshot with atClusterTime. Any thread. A state can be read again if a snapshot read got
/// its time before; it is kept for five minutes after its last use, and the oldest are dropped first if there are many.
class Snapshots {
 public:
  explicit Snapshots(const Clock& clock) : clock_(clock) {}

  void Keep(uint64_t time, const storage::Snapshot& snapshot);
  /// kSnapshotTooOld if it is not kept (any more).
  Result<storage::Snapshot> Find(uint64_t time);
  void Sweep();
  size_t size() const;

 private:
  struct Kept {
    storage::Snapshot snapshot;
    std::chrono::steady_clock::time_point used;
  };
  const Clock& clock_;
  mutable Mutex mu_;
  std::map<uint64_t, Kept> kept_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::commands
