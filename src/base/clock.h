// Time, passed in so that tests can set it.
#pragma once

#include <chrono>
#include <cstdint>

namespace braid {

/// Where the time comes from. Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since 1970, UTC: what is stored in documents.
  virtual int64_t NowMillis() const = 0;
  /// For durations and deadlines; never goes back.
  virtual std::chrono::steady_clock::time_point Now() const = 0;

  /// The machine's clock.
  static const Clock& System();
};

/// Stands still until told to move.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_millis = 1'700'000'000'000) : millis_(now_millis) {}
  int64_t NowMillis() const override { return millis_; }
  std::chrono::steady_clock::time_point Now() const override {
    return std::chrono::steady_clock::time_point(std::chrono::milliseconds(millis_));
  }
  void Advance(std::chrono::milliseconds by) { millis_ += by.count(); }

 private:
  int64_t millis_;
};

}  // namespace braid
