// Seldom: keeps events that a client can cause at will from filling the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/mutex.h"

namespace braid {

/// Any thread.
class Seldom {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Seldom(Clock::duration pause = std::chrono::seconds(10)) : pause_(pause) {}

  /// Counts one more event. Returns the number of events since one was last logged, or 0 if this one should not be
  /// logged.
  uint64_t Count(Clock::time_point now = Clock::now()) {
    const MutexLock lock(mu_);
    ++count_;
    if (now < quiet_until_) return 0;
    quiet_until_ = now + pause_;
    return std::exchange(count_, 0);
  }

 private:
  const Clock::duration pause_;
  Mutex mu_;
  uint64_t count_ BRAID_GUARDED_BY(mu_) = 0;
  Clock::time_point quiet_until_ BRAID_GUARDED_BY(mu_) = Clock::time_point::min();
};

}  // namespace braid
