// TTL: removes documents whose time is over, in the background.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/txn/context.h"

namespace braid::txn {

/// A thread that looks at every TTL index once a second through the index itself (dates up to now minus the limit).
class TtlSweeper {
 public:
  explicit TtlSweeper(Shared& shared);
  ~TtlSweeper();  ///< stops and joins
  /// One pass over everything; for tests and the thread. Documents removed.
  Result<uint64_t> Sweep();
  uint64_t passes() const { return passes_; }
  uint64_t removed() const { return removed_; }

 private:
  void Loop();
  Shared& shared_;
  std::atomic<uint64_t> passes_{0};
  std::atomic<uint64_t> removed_{0};
  std::mutex sweep_mu_;  // one pass at a time
  std::mutex mu_;        // guards stop_
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace braid::txn
