// Loops: the threads that run the connections. One event loop a core; a loop whose threads are all inside long handlers
// gets one more thread, so that a slow query does not make its neighbours wait.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace braid::wire {

/// Figures of one loop, apart from the other loops' so that counting costs nothing.
struct LoopFigures {
  std::atomic<uint64_t> bytes_in{0};
  std::atomic<uint64_t> bytes_out{0};
  std::atomic<uint64_t> requests{0};
  std::atomic<int64_t> active{0};  // connections whose request is being answered
};

/// One event loop. Its connections' coroutines all run here.
class alignas(64) Loop {
 public:
  // A hint of 1 makes a thread that takes one event not wake another for the next: that costs more than most requests.
  // The loop still locks, so that further threads may join it.
  Loop() : context_(1), work_(context_.get_executor()) {}

  boost::asio::io_context& context() { return context_; }
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
};

struct LoopsOptions {
  /// Event loops. Default 0: one a core.
  size_t loops = 0;
  /// Threads of all loops together; when they are all inside long handlers, requests wait. Default 64.
  size_t threads_max = 64;
  /// How long a handler may hold its loop before another thread takes the loop over. Default 5 ms.
  std::chrono::milliseconds patience{5};
};

/// Owns the loops, their threads and the watcher that adds threads.
class Loops {
 public:
  explicit Loops(const LoopsOptions& options);
  ~Loops();  ///< stops
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  /// Ends the loops as soon as the handlers running have returned, and joins the threads.
  void Stop();

  size_t size() const { return loops_.size(); }
  Loop& operator[](size_t index) { return *loops_[index]; }
  /// The loop with the fewest connections (or working connections).
  Loop& Least(std::atomic<int64_t> Loop::*count);
  /// Threads running loops now.
  size_t threads() const { return threads_.load(std::memory_order_relaxed); }

  /// Marks the calling loop thread as inside a handler.
  class Busy {
   public:
    explicit Busy(Loops& loops);
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
  };

 private:
  void AddWorker(Loop& loop);
  void Watch();
  bool Relieve(Loop& loop, int64_t now);
  bool RelieveAll();

  const LoopsOptions options_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::atomic<size_t> threads_{0};
  std::atomic<bool> watcher_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable wake_;  // the watcher, from its sleep
  bool stopping_ = false;         // guarded by mutex_
  std::thread watcher_;
};

}  // namespace braid::wire
