// Backoff: how long to wait before something that failed is tried again.
#pragma once

#include <algorithm>
#include <chrono>

namespace braid {

/// Waits that double from the first to the longest, and begin again after a success. One thread at a time.
class Backoff {
 public:
  using Duration = std::chrono::milliseconds;

  Backoff(Duration first, Duration longest) : first_(first), longest_(longest), next_(first) {}

  /// The wait after one more failure.
  Duration Next() {
    const Duration wait = next_;
    next_ = std::min(2 * next_, longest_);
    return wait;
  }
  /// Call after a success: the next failure counts as the first again.
  void Reset() { next_ = first_; }

 private:
  const Duration first_;
  const Duration longest_;
  Duration next_;
};

}  // namespace braid
