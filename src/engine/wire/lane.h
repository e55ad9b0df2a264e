// Lane: the queue of requests that run long or found no thread. Each in turn gets a thread for a moment; those that
// have run little so far go first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include "base/mutex.h"

namespace braid::wire {

/// Turns that requests wait for.
struct LaneFigures {
  std::atomic<int64_t> waiting{0};  // requests that wait for a thread now
  std::atomic<uint64_t> waits{0};   // that are over
  std::atomic<int64_t> waited_nanos{0};
};

/// A request of a few milliseconds does not queue behind all those that run for seconds: young requests go first, and
/// old ones still get a share of the turns, whatever comes. Within each of the two: first come, first served. Any
/// thread.
class Lane {
 public:
  static constexpr int kYoungTurns = 4;  // after so many turns, about 20 ms, a request is old
  static constexpr int kOldEvery = 4;    // while both wait, one of so many turns is for an old one

  /// A stretch of a request that has had so many turns before.
  void Push(int turns, std::function<void()> stretch) BRAID_EXCLUDES(mu_);
  /// Runs the stretch that comes next. To be called once for each Push().
  void RunNext() BRAID_EXCLUDES(mu_);

  const LaneFigures& figures() const { return figures_; }

 private:
  struct Waiting {
    std::function<void()> stretch;
    std::chrono::steady_clock::time_point since;
  };
  Waiting Take() BRAID_EXCLUDES(mu_);

  Mutex mu_;
  std::deque<Waiting> young_ BRAID_GUARDED_BY(mu_);
  std::deque<Waiting> old_ BRAID_GUARDED_BY(mu_);
  int young_in_a_row_ BRAID_GUARDED_BY(mu_) = 0;  // turns of young ones while an old one waited
  LaneFigures figures_;
};

}  // namespace braid::wire
