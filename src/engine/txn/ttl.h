// TTL: removes expired documents in the background.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/mutex.h"
#include "engine/txn/context.h"

namespace braid::txn {

/// A thread that looks at every TTL index once a second through the index itself (dates up to now minus the limit).
class TtlSweeper {
 public:
  explicit TtlSweeper(Shared& shared);
  ~TtlSweeper();  ///< stops and joins
  /// One pass over all TTL indexes; for tests and the thread. Returns the number of documents removed.
  Result<uint64_t> Sweep();
  uint64_t passes() const { return passes_; }
  uint64_t removed() const { return removed_; }
  /// How long ago the last complete pass began: documents that had expired before are removed, unless they were locked
  /// then.
  std::chrono::milliseconds lag() const;

 private:
  void Loop();
  Shared& shared_;
  std::atomic<int64_t> clean_until_millis_;  // the beginning of the last whole pass
  std::atomic<uint64_t> passes_{0};
  std::atomic<uint64_t> removed_{0};
  Mutex sweep_mu_;  // guards no member: one pass at a time
  Mutex mu_;
  CondVar wake_;
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace braid::txn
