// What `braid settlement ingest` is made of: the summary, which has the number of each outcome and the errors, and
// outputs from files and standard input.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cli/files_read.h"
#include "services/settlement/migration/state.h"
#include "services/settlement/service.h"
#include "services/settlement/views/views.h"

namespace braid::cli::settlement {

/// Collects answers. Any thread.
class Summary {
 public:
  using Views = std::vector<braid::settlement::ViewProgress>;

  /// `source`: the file or "-".
  void Add(const std::string& source, const braid::settlement::Answer& answer);
  /// Notes an answer that is counted elsewhere.
  void AddProblem(const std::string& source, const braid::settlement::Answer& answer);
  /// Why nothing after a line of the source was taken, if so (Intake::stopped).
  void SetStopped(const std::string& source, const Status& why);
  Status stopped() const;
  /// Answers that are not kept one by one.
  void Add(const braid::settlement::Totals& totals);

  braid::settlement::Totals totals() const;
  /// "9 accepted, 1 duplicate, 0 refused, …"
  std::string ToString() const;
  /// What was wrong, to standard error: each reason with its first line, and how often it came.
  void PrintProblems() const;
  /// `views`: null if they were not followed.
  void PrintJson(const std::vector<ChainWriterFigures>& writers, const Views* views, double seconds) const;
  /// OK only if every output is in the log, or was left to another service if that is no matter; else what to do.
  Status ToStatus(bool elsewhere_matters) const;

 private:
  struct Problem {
    std::string source;
    braid::settlement::Answer answer;
  };
  std::vector<Problem> Sorted() const BRAID_REQUIRES(mu_);

  mutable Mutex mu_;
  braid::settlement::Totals totals_ BRAID_GUARDED_BY(mu_);
  std::vector<Problem> problems_ BRAID_GUARDED_BY(mu_);  // the first of them
  Status stopped_ BRAID_GUARDED_BY(mu_);
};

std::string Describe(const braid::settlement::Totals& totals);

/// Submits every line of every file, and waits for the answers. Ends early when `stop` becomes true, even while the
/// store does not answer (its writers are ended then), when the store has failed for good and when a migration begins.
Status IngestFiles(braid::settlement::Settlement& settlement, const std::vector<std::string>& files,
                   braid::settlement::migration::MigrationWatch& watch, const std::atomic<bool>& stop, FilesRead& read,
                   Summary& summary);

}  // namespace braid::cli::settlement
