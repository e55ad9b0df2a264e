// Loops: the threads that run the connections. There is one event loop per core; a loop whose threads are all inside
// long handlers gets one more thread, so that a slow query does not delay its neighbours. Beside them is the lane
// (lane.h), for requests that have run for a while.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "engine/wire/lane.h"

namespace braid::wire {

/// Figures of one loop, separate from the other loops' so that counting costs nothing.
struct LoopFigures {
  std::atomic<uint64_t> bytes_in{0};
  std::atomic<uint64_t> bytes_out{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> quick{0};  // of these, the ones that ended on the loop
  std::atomic<int64_t> active{0};  // connections whose request is being answered
};

class Loops;

/// One event loop. Its connections' coroutines run here, except for requests that another loop has let go on.
class alignas(64) Loop {
 public:
  // With a hint of 1 a thread that takes one event does not wake another for the next: waking costs more than most
  // requests. The loop still locks, so that further threads may join it.
  Loop() : context_(1), work_(context_.get_executor()) {}

  boost::asio::io_context& context() { return context_; }
  /// Asks for a thread of the loop for a request. False if the limit is reached: the last thread is for quick requests.
  bool TryTake() {
    if (taken_.fetch_add(1, std::memory_order_relaxed) < taken_max_) return true;
    GiveBack();
    return false;
  }
  void GiveBack() {
    const int64_t before = taken_.fetch_sub(1, std::memory_order_relaxed);
    BRAID_ASSERT(before > 0);
  }
  /// Continues a request that has got what it waited for, before new requests have their turn: it may have been given a
  /// lock that others wait for. Any thread; `resume` is called on one of the loop's.
  void Resume(std::function<void()> resume) BRAID_EXCLUDES(mu_);
  /// Continues such requests for a short while. A thread of the loop calls it between two requests; within itself it
  /// does nothing.
  void RunResumed() BRAID_EXCLUDES(mu_);

  LoopFigures figures;
  std::atomic<int64_t> connections{0};  // all of them
  std::atomic<int64_t> working{0};      // those that have sent more than a handshake

 private:
  friend class Loops;
  struct Worker {
    std::atomic<int64_t> busy_since{0};  // steady nanoseconds; 0: not inside a handler
    std::thread thread;
  };
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::unique_ptr<Worker>> workers_;  // added to by the watcher only
  Mutex mu_;
  std::deque<std::function<void()>> resumed_ BRAID_GUARDED_BY(mu_);
  std::atomic<size_t> resumed_count_{0};  // of resumed_, for a look without the lock
  std::atomic<int64_t> taken_{0};
  int64_t taken_max_ = 1;  // constant once the threads run, like the next
  const Loops* owner_ = nullptr;
};

struct LoopsOptions {
  /// Number of event loops. Default 0: one per core.
  size_t loops = 0;
  /// Threads of all loops together that may be inside long handlers, and of the lane; then requests wait. Each loop has
  /// one more for those that are quick. Default 64.
  size_t threads_max = 64;
  /// How long a handler may hold its loop before another thread takes the loop over. Default 5 ms.
  std::chrono::milliseconds patience{5};
  /// The same in the lane, where a handler is expected to give way by itself. Default 20 ms.
  std::chrono::milliseconds lane_patience{20};
};

/// Owns the loops, their threads and the watcher that adds threads.
class Loops {
 public:
  explicit Loops(const LoopsOptions& options);
  ~Loops();  ///< stops
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  /// Ends the loops as soon as the running handlers have returned, and joins the threads.
  void Stop();

  size_t size() const { return loops_.size(); }
  Loop& operator[](size_t index) { return *loops_[index]; }
  /// The lane continues requests that have run for a while, or found no thread.
  Lane& lane() { return lane_; }
  /// How long a request may run on its loop before it continues in the lane. Where others wait for a turn already, many
  /// more may be about to come, and each would keep this loop's connections waiting.
  std::chrono::microseconds first_turn() const {
    return lane_.figures().waiting.load(std::memory_order_relaxed) > 0 ? kFirstTurnCrowded : kFirstTurn;
  }
  /// The loop with the fewest connections (or working connections).
  Loop& Least(std::atomic<int64_t> Loop::*count);
  /// Threads running loops now, without the lane's.
  size_t threads() const { return threads_.load(std::memory_order_relaxed); }

  /// True on the threads that run loops, not on the lane's.
  static bool IsLoopThread();
  /// The loop that the calling thread runs; null if it runs none of these.
  Loop* OfThisThread() const;

  /// Marks the calling loop thread as inside a handler.
  class Busy {
   public:
    explicit Busy(Loops& loops);
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
  };

 private:
  static constexpr std::chrono::microseconds kFirstTurn{2000};
  static constexpr std::chrono::microseconds kFirstTurnCrowded{250};

  void AddWorker(Loop& loop);
  void Watch();
  bool Relieve(Loop& loop, int64_t now);
  bool SeesQuickRequests();
  bool RelieveAll();

  const LoopsOptions options_;
  std::vector<std::unique_ptr<Loop>> loops_;
  Lane lane_;
  std::atomic<size_t> threads_{0};
  std::atomic<bool> watcher_sleeps_{false};
  uint64_t quick_before_ = 0;  // the sum of the loops at the watcher's last tick; these two are its own
  int ticks_without_quick_ = 0;
  Mutex mutex_;
  CondVar wake_;  // the watcher, from its sleep
  bool stopping_ BRAID_GUARDED_BY(mutex_) = false;
  std::thread watcher_;
};

}  // namespace braid::wire
