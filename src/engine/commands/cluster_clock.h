// ClusterClock: the logical time of replies ($clusterTime, operationTime). Never goes back, not even over a restart of
// the machine's clock within one run.
#pragma once

#include <atomic>
#include <cstdint>

#include "braid/clock.h"

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

}  // namespace braid::commands
