// What `braid settlement ingest` says at the end: how many of each outcome, and what was wrong.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "services/settlement/service.h"
#include "services/settlement/views/views.h"

namespace braid::cli::settlement {

/// Collects answers. Any thread.
class Summary {
 public:
  using Views = std::vector<braid::settlement::ViewProgress>;

  /// `source`: the file or "-".
  void Add(const std::string& source, const braid::settlement::Answer& answer);
  /// Answers that are not kept one by one.
  void Add(const braid::settlement::Totals& totals);

  braid::settlement::Totals totals() const;
  /// "9 accepted, 1 duplicate, 0 refused, …"
  std::string ToString() const;
  /// What was wrong, to standard error: the first of it, one a line.
  void PrintProblems() const;
  /// `views`: null if they were not followed.
  void PrintJson(const std::vector<ChainWriterFigures>& writers, const Views* views, double seconds) const;
  /// OK only if every output is in the log; else what to do.
  Status ToStatus() const;

 private:
  struct Problem {
    std::string source;
    braid::settlement::Answer answer;
  };
  mutable std::mutex mu_;
  braid::settlement::Totals totals_;  // guarded by mu_, as is the next
  std::vector<Problem> problems_;     // the first of them
};

std::string Describe(const braid::settlement::Totals& totals);

}  // namespace braid::cli::settlement
