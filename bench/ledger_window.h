// How much may be under way at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace braid::bench {

/// Lets so many in at a time. Once full, it is closed until a quarter has left, so that who waits is not woken for each
/// one. One thread enters, any leave.
class Window {
 public:
  /// `most`: at least 1.
  explicit Window(uint64_t most) : most_(most), refill_(most - (most + 3) / 4) {}

  /// False if it is full: Enter() would wait.
  bool TryEnter() {
    const std::lock_guard lock(mu_);
    if (inside_ >= most_ && !open_) return false;
    ++inside_;
    return true;
  }
  void Enter() {
    std::unique_lock lock(mu_);
    if (inside_ >= most_) room_.wait(lock, [&] { return inside_ <= refill_ || open_; });
    ++inside_;
  }
  void Leave() {
    Leave([] {});
  }
  /// Calls `also` under the lock: what is noted there, AwaitEmpty() has seen.
  template <typename Also>
  void Leave(const Also& also) {
    // Told under the lock: who waits for the end may destroy this object as soon as it is free.
    const std::lock_guard lock(mu_);
    also();
    --inside_;
    if (inside_ == refill_ || inside_ == 0) room_.notify_all();
  }
  /// Nobody has to wait any more.
  void Open() {
    const std::lock_guard lock(mu_);
    open_ = true;
    room_.notify_all();
  }
  /// Returns when all have left.
  void AwaitEmpty() {
    std::unique_lock lock(mu_);
    room_.wait(lock, [&] { return inside_ == 0; });
  }

 private:
  const uint64_t most_;
  const uint64_t refill_;
  std::mutex mu_;
  std::condition_variable room_;
  uint64_t inside_ = 0;  // guarded by mu_, as is the next
  bool open_ = false;
};

}  // namespace braid::bench
