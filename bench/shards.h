// `braid bench ycsb --shards`: the effect of the number of shards on reads that one shard answers, and on queries that
// all shards answer.
#pragma once

#include "bench/suite.h"

namespace braid::bench {

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

}  // namespace braid::bench
