// Operation: a command being run, as currentOp shows it and killOp stops it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::txn {

/// Checked in every loop. Any thread may kill; only the running thread writes the rest.
struct Operation {
  int64_t id = 0;
  int64_t connection = 0;
  // What these point at outlives the operation: the connection and the request's message.
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
  const Clock* clock = &Clock::System();  // of `started` and `deadline`

  /// OK, kMaxTimeMSExpired, or what killed it. Cheap: reads the clock only now and then.
  Status Check();

 private:
  std::atomic<uint32_t> checks_{0};  // several threads may work on one operation
};

/// Every operation of the moment. Any thread.
class Operations {
 public:
  explicit Operations(const Clock& clock) : clock_(clock) {}

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
  size_t size() const;
  void ForEach(const std::function<void(const Operation&)>& visit) const;

 private:
  void Finish(const Operation* operation);
  const Clock& clock_;
  mutable std::mutex mu_;
  int64_t last_id_ = 0;
  std::vector<Operation*> running_;  // few: one a thread
};

}  // namespace braid::txn
