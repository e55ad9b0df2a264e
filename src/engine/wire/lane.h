// Lane: runs requests that take long or found no thread. Each gets a thread for a short turn, then the others have
// theirs; those that have run little so far go first.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/fiber.h"
#include "base/mutex.h"

namespace braid::wire {

/// Turns that requests wait for.
struct LaneFigures {
  std::atomic<int64_t> waiting{0};  // requests that wait for a thread now
  std::atomic<uint64_t> waits{0};   // that are over
  std::atomic<int64_t> waited_nanos{0};
};

struct LaneOptions {
  /// As many turns are taken at the same time as there are cores; one more for each turn that got stuck.
  size_t at_once = 1;
  size_t threads_max = 64;
  /// A turn is stuck when it has computed for so long without giving way, or has waited for a disk or a lock meanwhile.
  std::chrono::nanoseconds patience{};
};

/// A request of a few milliseconds does not queue behind all those that run for seconds, even if those have only begun:
/// requests are ranked by the time that they have had, in levels that each are about twice as long as the one before.
/// One of a lower level goes first, and a turn ends early when such a request comes; the first turns are short. The
/// request that has waited longest still gets its share of the time, whatever comes. Any thread.
class Lane {
 public:
  using Time = std::chrono::steady_clock;

  explicit Lane(const LaneOptions& options);
  ~Lane();  ///< stops
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Runs a request until its turn is over.
  using Stretch = std::function<void(const Fiber::Turn& turn)>;

  /// Queues the next stretch of a request that has had so much time before.
  void Push(std::chrono::nanoseconds had, Stretch stretch) BRAID_EXCLUDES(mu_);
  /// How long the next turn is after so much time.
  static std::chrono::microseconds TurnAfter(std::chrono::nanoseconds had);

  /// Whether a core is left to quick requests, because there are some: then one turn fewer is taken, if at least one
  /// remains. Heard by Relieve() and by turns that end.
  void LeaveCore(bool leave) BRAID_EXCLUDES(mu_);
  /// To be called every few milliseconds: lets others go on beside the turns that are stuck. True if some turn is
  /// taken.
  bool Relieve() BRAID_EXCLUDES(mu_);
  /// Returns when the turns that are taken have ended; what waits is dropped.
  void Stop() BRAID_EXCLUDES(mu_);

  const LaneFigures& figures() const { return figures_; }

 private:
  static constexpr size_t kLevels = 12;

  struct Waiting {
    Stretch stretch;
    Time::time_point since;
  };
  struct Next {
    Waiting waiting;
    Fiber::Turn turn;
  };
  struct Worker {
    std::thread thread;
    clockid_t cpu_clock = 0;
    Time::time_point since;           // its turn began; zero: it has none
    std::chrono::nanoseconds cpu{0};  // that the thread had used by then
    bool stuck = false;
  };

  static size_t LevelOf(std::chrono::nanoseconds had);
  void AddWorker() BRAID_REQUIRES(mu_);
  void Run(Worker& worker) BRAID_EXCLUDES(mu_);
  bool MayTakeTurn() const BRAID_REQUIRES(mu_);
  Next Take() BRAID_REQUIRES(mu_);
  void NoteWaiting() BRAID_REQUIRES(mu_);
  bool IsStuck(const Worker& worker, Time::time_point now) const BRAID_REQUIRES(mu_);

  const LaneOptions options_;
  Mutex mu_;
  CondVar wake_;  // a worker: there may be a turn for it
  std::array<std::deque<Waiting>, kLevels> levels_ BRAID_GUARDED_BY(mu_);
  size_t waiting_ BRAID_GUARDED_BY(mu_) = 0;
  std::array<std::atomic<bool>, kLevels> is_wanted_{};            // a request of a lower level waits
  std::chrono::microseconds preferred_ BRAID_GUARDED_BY(mu_){0};  // turns given past the one that has waited longest
  std::vector<std::unique_ptr<Worker>> workers_ BRAID_GUARDED_BY(mu_);
  size_t running_ BRAID_GUARDED_BY(mu_) = 0;
  size_t stuck_ BRAID_GUARDED_BY(mu_) = 0;
  bool leaves_core_ BRAID_GUARDED_BY(mu_) = false;
  bool stopping_ BRAID_GUARDED_BY(mu_) = false;
  LaneFigures figures_;
};

}  // namespace braid::wire
