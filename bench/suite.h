// `braid bench ycsb`: the workloads one after another, on the server and on bare RocksDB.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/runner.h"

namespace braid::bench {

struct SuiteOptions {
  ServerTarget server;
  std::vector<const Workload*> workloads;
  std::vector<int> threads = {8};
  std::optional<Distribution> distribution;
  uint64_t records = 100'000;
  uint64_t operations = 100'000;
  double seconds = 0;
  uint64_t batch = 1000;
  uint64_t seed = 1;
  bool baseline = true;
  /// Where bare RocksDB's directory is made: on the same disk as the store, or the comparison is worth nothing.
  std::string baseline_parent;
  /// Leaves the records of the last workload in the collection.
  bool keep = false;
  const std::atomic<bool>* stop = nullptr;
  /// Shards of the server, for the rows; 0 if that is not what is measured.
  int shards = 0;
  /// Called with each row when it is known.
  std::function<void(const struct Row&)> on_row;
};

struct Row {
  const Workload* workload;
  Distribution distribution;
  int threads;
  int shards = 0;
  Measurement server;
  std::optional<Measurement> bare;

  /// The server's rate over bare RocksDB's.
  std::optional<double> ratio() const {
    if (!bare || bare->rate() <= 0) return std::nullopt;
    return server.rate() / bare->rate();
  }
};

/// The rows in the order of running. Records are loaded anew before a workload if the one before has added some; each
/// load is a row too. Ended early by `stop`: the rows so far.
Result<std::vector<Row>> RunSuite(const SuiteOptions& options);

}  // namespace braid::bench
