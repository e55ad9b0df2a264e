// Pace: the rate of a job, its progress, and the remaining time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace braid::cli {

/// One thread at a time.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Pace(Clock::time_point start = Clock::now()) : samples_{{start, 0, 0}} {}

  /// "25 000/s, 40 %, 1 min 20 s left", of the last ten seconds: `done` things, and the share of the whole job, from 0
  /// to 1, which is left out if it is not known.
  std::string ToString(int64_t done, std::optional<double> share, Clock::time_point now = Clock::now());

 private:
  struct Sample {
    Clock::time_point at;
    int64_t done;
    double share;
  };
  std::deque<Sample> samples_;
};

/// "45 s", "1 min 20 s", "2 h 05 min"
std::string Duration(double seconds);

}  // namespace braid::cli
