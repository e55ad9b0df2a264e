// Window: limits how many records are in flight.
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace braid::bench {

/// Lets `most` in at a time. Once full, it is closed until a quarter has left, so that the waiting thread is not woken
/// for each one. One thread enters, any thread leaves.
class Window {
 public:
  /// `most`: at least 1.
  explicit Window(uint64_t most) : most_(most), refill_(most - (most + 3) / 4) {}

  /// False if it is full: Enter() would wait.
  bool TryEnter() {
    const MutexLock lock(mu_);
    if (inside_ >= most_ && !open_) return false;
    ++inside_;
    return true;
  }
  void Enter() {
    MutexLock lock(mu_);
    if (inside_ >= most_) room_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return inside_ <= refill_ || open_; });
    ++inside_;
  }
  void Leave() {
    Leave([] {});
  }
  /// Calls `also` under the lock: what is noted there, AwaitEmpty() has seen.
  template <typename Also>
  void Leave(const Also& also) {
    // Notifies under the lock: the thread in AwaitEmpty() may destroy this object as soon as the lock is free.
    const MutexLock lock(mu_);
    also();
    --inside_;
    if (inside_ == refill_ || inside_ == 0) room_.NotifyAll();
  }
  /// Ends all waiting.
  void Open() {
    const MutexLock lock(mu_);
    open_ = true;
    room_.NotifyAll();
  }
  /// Returns when all have left.
  void AwaitEmpty() {
    MutexLock lock(mu_);
    room_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return inside_ == 0; });
  }

 private:
  const uint64_t most_;
  const uint64_t refill_;
  Mutex mu_;
  CondVar room_;
  uint64_t inside_ BRAID_GUARDED_BY(mu_) = 0;
  bool open_ BRAID_GUARDED_BY(mu_) = false;
};

}  // namespace braid::bench
