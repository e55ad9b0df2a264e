// Clock: where the patterns take the time from, passed in so that tests can set it.
//
//   braid::ManualClock clock;
//   auto chains = braid::Chains::Open(*store, {.database = "test", .owner = "a", .clock = &clock});
//   clock.Advance(std::chrono::seconds(11));  // leases of 10 s have expired now
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace braid {

/// A source of time. Any thread. Must outlive every object whose options point to it.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Milliseconds since 1970, UTC: what is stored in documents.
  virtual int64_t NowMillis() const = 0;
  /// For durations and deadlines; never goes back.
  virtual std::chrono::steady_clock::time_point Now() const = 0;

  /// The machine's clock, which is what options without a clock use.
  static const Clock& System();
};

/// A clock for tests: stands still until it is moved. Any thread may read it while another one moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_millis = 1'700'000'000'000) : millis_(now_millis) {}
  int64_t NowMillis() const override { return millis_; }
  std::chrono::steady_clock::time_point Now() const override {
    return std::chrono::steady_clock::time_point(std::chrono::milliseconds(millis_));
  }
  void Advance(std::chrono::milliseconds by) { millis_ += by.count(); }
  void Set(int64_t now_millis) { millis_ = now_millis; }

 private:
  std::atomic<int64_t> millis_;
};

}  // namespace braid
