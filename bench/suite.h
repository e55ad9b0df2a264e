// `braid bench ycsb`: the workloads one after another, on the server and on bare RocksDB, or with `--shards` for
// several numbers of shards; and the figures for people (a table) and for programs (one JSON object).
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

/// The effect of the number of shards on reads that one shard answers, and on queries that all shards answer.
struct ShardsOptions {
  /// Of each run: workloads, baseline and on_row are set here.
  SuiteOptions suite;
  std::vector<int> shards;
  /// Calls `use` with the address of a server that has `shards` shards and an empty store.
  std::function<Status(int shards, const std::function<Status(const std::string& uri)>& use)> with_server;
  /// Called with each row when it is known, and with the same on one shard, if that was measured.
  std::function<void(const Row& row, const Row* one)> on_row;
};

/// The rows in the order of running, for each number of shards the load and ShardWorkloads(). Ended early by the
/// suite's `stop`: the rows so far.
Result<std::vector<Row>> RunShards(const ShardsOptions& options);

/// The row on one shard that the row is to be compared with; null if there is none.
const Row* OnOneShard(const std::vector<Row>& rows, const Row& row);

/// Two lines: the names of the columns and a rule.
std::string TableHeader();
/// One line of the table.
std::string TableRow(const Row& row);

/// One object; docs/benchmarks.md describes its fields. Names are never changed, only added.
std::string ToJson(const SuiteOptions& options, const std::vector<Row>& rows);

/// The same for `--shards`. `one`: the row on one shard, or null.
std::string ShardTableHeader();
std::string ShardTableRow(const Row& row, const Row* one);
std::string ShardsToJson(const SuiteOptions& options, const std::vector<Row>& rows);

}  // namespace braid::bench
