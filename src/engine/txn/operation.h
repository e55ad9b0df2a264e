// Operation: a command being run, as currentOp shows it and killOp stops it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/waiter.h"
#include "base/work.h"
#include "braid/clock.h"
#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::txn {

/// The cost of an operation so far, for the log of slow operations and the profiler.
struct OperationCost {
  uint64_t keys_examined = 0;
  uint64_t documents_examined = 0;
  uint64_t conflicts = 0;              // locks that it met and waited for
  std::chrono::nanoseconds waited{0};  // for locks, for its session and the like
  std::chrono::nanoseconds cpu{0};     // of the threads that it ran on; zero: not measured
  std::string plan;                    // "IXSCAN { a: 1 }"; empty: none, or it was not asked for
};

/// Checked in every loop. Any thread may kill; only the running thread writes the rest.
struct Operation final : Waiter {
  int64_t id = 0;
  int64_t connection = 0;
  // These point into the connection and the request's message, which outlive the operation.
  std::string_view client;
  std::string_view application;
  std::string_view database;
  std::string_view name;  // of the command
  bson::View command;     // empty where currentOp need not show it
  std::string_view lsid;  // bytes of the session's id; empty: none
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::atomic<int> killed{0};              // a Code: kInterrupted, kInterruptedAtShutdown, …
  std::atomic<uint64_t> progress_done{0};  // an index build's documents
  std::atomic<uint64_t> progress_total{0};
  const char* message = "";               // what the progress is of
  bool gives_way = false;                 // gives way to others when it runs long: it holds no lock then
  const Clock* clock = &Clock::System();  // of `started` and `deadline`
  OperationCost cost;
  /// From this moment on the operation is one that is logged or profiled, and worth describing.
  std::chrono::steady_clock::time_point recorded_from = std::chrono::steady_clock::time_point::max();

  bool IsRecorded() const {
    return recorded_from != std::chrono::steady_clock::time_point::max() && clock->Now() >= recorded_from;
  }

  /// OK, kMaxTimeMSExpired, or what killed it. Cheap: reads the clock only now and then.
  Status Check();
  /// Gives up, with the error of Check(), when the operation is killed or its time is over.
  Status Wait() override { return WaitFor(std::chrono::steady_clock::duration::max()); }
  /// The same; OK also if `longest` has passed.
  Status WaitFor(std::chrono::steady_clock::duration longest);
  bool waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  friend class Operations;
  friend class OperationWork;
  Status CheckNow();
  std::atomic<uint32_t> checks_{0};  // several threads may work on one operation
  std::atomic<bool> waiting_{false};
  std::chrono::steady_clock::time_point wake_at_ =
      std::chrono::steady_clock::time_point::max();  // guarded by the owner's mutex
  class Operations* owner_ = nullptr;
  size_t place_ = 0;  // in the owner's list; guarded by its mutex too
};

/// The computing of an operation, which stops when the operation has to stop. Measures its CPU time, beginning with the
/// first check whether it must stop, so that quick operations are not slowed down.
class OperationWork final : public Work {
 public:
  OperationWork(Operation& operation, MemoryBudget* budget) : Work(budget), operation_(operation) {}

  /// From here on; at once for operations that are recorded however quick they are.
  void MeasureCpu();
  /// Adds what was used since to the operation's cost.
  void Leave() override;
  void Enter() override;

 private:
  Status Interrupted() override;

  Operation& operation_;
  bool measures_ = false;
  std::chrono::nanoseconds cpu_before_{0};  // of the thread
};

/// Every operation of the moment. Any thread.
class Operations {
 public:
  explicit Operations(const Clock& clock);
  ~Operations();

  /// Listed while alive.
  class Handle {
   public:
    Handle(Operations& owner, std::unique_ptr<Operation> op) : owner_(&owner), op_(std::move(op)) {}
    Handle(Handle&&) noexcept = default;
    ~Handle();
    Operation& operator*() const { return *op_; }
    Operation* operator->() const { return op_.get(); }

   private:
    Operations* owner_;
    std::unique_ptr<Operation> op_;
  };
  /// `fill` sets what others may see; it runs before the operation is listed.
  Handle Start(const std::function<void(Operation&)>& fill = nullptr);
  bool Kill(int64_t id, Code code);
  void KillAll(Code code);
  void KillSession(std::string_view lsid, Code code);
  void KillConnection(int64_t connection, Code code);
  size_t size() const;
  void ForEach(const std::function<void(const Operation&)>& visit) const;

 private:
  friend struct Operation;
  void Finish(const Operation* operation);
  void BeginTimedWait(Operation& operation, std::chrono::steady_clock::time_point wake_at);
  void EndTimedWait(Operation& operation);
  void KillIf(const std::function<bool(const Operation&)>& chosen, Code code);
  void WatchDeadlines();

  const Clock& clock_;
  mutable Mutex mu_;
  int64_t last_id_ BRAID_GUARDED_BY(mu_) = 0;
  std::vector<Operation*> running_ BRAID_GUARDED_BY(mu_);
  bool stopping_ BRAID_GUARDED_BY(mu_) = false;
  int64_t timed_waits_ BRAID_GUARDED_BY(mu_) = 0;  // waiting operations with a deadline
  CondVar watch_;
  std::thread watcher_;  // wakes those whose time is over
};

}  // namespace braid::txn
