// Runs a workload on a target with a number of threads, and measures it.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include "bench/histogram.h"
#include "bench/target.h"
#include "bench/workload.h"

namespace braid::bench {

struct RunOptions {
  const Workload* workload = nullptr;
  Distribution distribution = Distribution::kZipfian;
  int threads = 1;
  /// Records stored before the run.
  uint64_t records = 0;
  /// Stops after this many operations (a batch counts its records) …
  uint64_t operations = 0;
  /// … or, if not 0, after this time.
  double seconds = 0;
  /// Records per request, where the workload inserts in batches.
  uint64_t batch = 1000;
  uint64_t seed = 1;
  /// Set from outside to end the run early.
  const std::atomic<bool>* stop = nullptr;
};

struct Measurement {
  /// Records for inserts in batches, else requests.
  uint64_t operations = 0;
  double seconds = 0;
  /// Nanoseconds per request, all and by kind.
  Histogram latency;
  std::array<Histogram, kOperations> by_operation;
  std::optional<double> cpu_micros_per_operation;
  std::optional<int64_t> resident_mb;
  std::optional<int64_t> syncs;  // of the log, during the run

  double rate() const { return seconds > 0 ? static_cast<double>(operations) / seconds : 0; }
};

/// The first error of any thread ends the run: a figure of a run with errors would mean nothing.
Result<Measurement> RunWorkload(Target& target, const RunOptions& options);

}  // namespace braid::bench
