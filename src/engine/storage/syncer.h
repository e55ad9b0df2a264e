// Syncer: one thread that makes the log durable, and wakes the writers that wait. One sync serves every waiting writer.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"
#include "engine/storage/store.h"

namespace braid::storage {

/// Any thread. Invariants: (1) durable() only grows; (2) a callback gets OK only after a sync that began when its
/// position was already in the log; (3) after a failed sync nothing is ever called durable again.
class Syncer {
 public:
  struct Log {
    std::function<LogPosition()> newest;      // the last position whose record is in the log (or its buffer)
    std::function<Status(LogPosition)> sync;  // writes the buffer out and syncs the file, past this position
  };
  explicit Syncer(Log log);
  ~Syncer();
  void Stop();  ///< does a last sync, then no more; status() and Fail() still work

  /// Notes a commit: it becomes durable within kIdleMillis, or at once if a writer waits for it. Costs one atomic
  /// store.
  void Committed();
  /// Runs `done` on the thread that syncs or fails (or here, if the position is already durable). It must be short.
  void WhenDurable(LogPosition position, OnDurable done);
  Status WaitDurable(LogPosition position);

  LogPosition durable() const { return durable_.load(std::memory_order_acquire); }
  uint64_t syncs() const { return syncs_.load(std::memory_order_relaxed); }

  /// OK, or why the store takes no more writes (kStoreReadOnly).
  Status status() const;
  /// Makes the store read-only because a write failed or damage was read. Waiters get the reason; only the first reason
  /// is kept.
  void Fail(const Status& why);

  static constexpr int kIdleMillis = 100;  // the longest time until a commit without a waiting writer becomes durable

 private:
  struct Waiter {
    LogPosition position;
    OnDurable done;
  };
  void Loop();
  static void Tell(std::vector<Waiter>& waiters, const Status& status);
  void SyncOnce() BRAID_REQUIRES(mu_);  ///< releases the lock while it syncs and runs callbacks

  const Log log_;
  std::atomic<LogPosition> durable_{0};
  std::atomic<uint64_t> syncs_{0};
  std::atomic<bool> dirty_{false};
  std::atomic<bool> failed_{false};
  mutable Mutex mu_;
  CondVar wake_;
  std::vector<Waiter> waiters_ BRAID_GUARDED_BY(mu_);
  Status failure_ BRAID_GUARDED_BY(mu_);
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace braid::storage
