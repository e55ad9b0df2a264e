// Reasons: why lines were refused, each reason once and then counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace braid::cli {

/// Reasons that differ only in numbers and quoted values are one. One thread at a time.
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
