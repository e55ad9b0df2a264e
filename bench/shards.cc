#include "bench/shards.h"

#include <algorithm>

namespace braid::bench {

const Row* OnOneShard(const std::vector<Row>& rows, const Row& row) {
  const auto found = std::ranges::find_if(rows, [&row](const Row& other) {
    return other.shards == 1 && other.workload == row.workload && other.threads == row.threads;
  });
  return found == rows.end() ? nullptr : &*found;
}

Result<std::vector<Row>> RunShards(const ShardsOptions& options) {
  std::vector<Row> rows;
  SuiteOptions suite = options.suite;
  suite.server.sharded = true;
  suite.baseline = false;
  suite.keep = true;  // the whole store goes
  suite.workloads.clear();
  for (const Workload& workload : ShardWorkloads()) suite.workloads.push_back(&workload);
  suite.on_row = [&](const Row& row) {
    rows.push_back(row);
    if (options.on_row) options.on_row(row, OnOneShard(rows, row));
  };
  for (const int shards : options.shards) {
    if (suite.stop != nullptr && suite.stop->load()) break;
    suite.shards = shards;
    BRAID_CHECK_OK(options.with_server(shards, [&suite](const std::string& uri) {
      suite.server.uri = uri;
      return RunSuite(suite).status();
    }));
  }
  return rows;
}

}  // namespace braid::bench
