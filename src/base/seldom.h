// Seldom: keeps what happens often, because a client makes it happen, from filling the log.
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

  /// It has happened once more. How often since it was last said, this time included; 0: not to be said now.
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
