// What a long job tells about itself: its pace, and why lines were refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace braid::cli {

/// The rate of a job, its progress, and the remaining time. One thread at a time.
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

/// Why lines were refused, each reason once and then counted. Reasons that differ only in numbers and quoted values are
/// one. One thread at a time.
class Reasons {
 public:
  /// Counts the reason. True if it should be shown: the first of its kind, as long as there are few kinds.
  bool Add(const std::string& reason);

  /// "and 4 999 more: <the first of its kind>", for each kind that came more than once.
  std::vector<std::string> Repeated() const;

 private:
  static constexpr size_t kShownMax = 20;
  struct Kind {
    std::string first;
    uint64_t count = 0;
  };
  std::map<std::string, Kind> kinds_;
  uint64_t others_ = 0;  // of kinds beyond those that are shown
};

}  // namespace braid::cli
