// Snapshots: states of the past that clients may read again (readConcern snapshot with atClusterTime).
#pragma once

#include <chrono>
#include <map>

#include "base/mutex.h"
#include "braid/clock.h"
#include "engine/storage/store.h"

namespace braid::commands {

/// Any thread. A state can be read again if a snapshot read got its time before; it is kept for five minutes after its
/// last use, and the oldest are dropped first if there are many.
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
