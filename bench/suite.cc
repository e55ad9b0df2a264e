#include "bench/suite.h"

#include <algorithm>

namespace braid::bench {
namespace {

class Suite {
 public:
  Suite(const SuiteOptions& options, Target& server, Target* bare) : options_(options), server_(server), bare_(bare) {}

  Status RunOne(const Workload& workload, int threads) {
    if (workload.starts_empty || !loaded_) BRAID_CHECK_OK(Reset());
    if (!workload.starts_empty && !loaded_) {
      RunOptions load = Options(kLoad, threads);
      load.operations = options_.records;
      load.seconds = 0;
      BRAID_CHECK_OK(Measure(load));
    }
    if (Stopped()) return {};
    RunOptions run = Options(workload, threads);
    run.records = workload.starts_empty ? 0 : workload.one_record ? 1 : options_.records;
    loaded_ = !workload.adds_records();
    return Measure(run);
  }

  bool Stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  std::vector<Row> rows;

 private:
  Status Reset() {
    BRAID_CHECK_OK(server_.Reset());
    return bare_ != nullptr ? bare_->Reset() : Status();
  }

  RunOptions Options(const Workload& workload, int threads) const {
    RunOptions run;
    run.workload = &workload;
    run.distribution = options_.distribution.value_or(workload.distribution);
    run.threads = threads;
    run.operations = options_.operations;
    run.seconds = options_.seconds;
    run.batch = options_.batch;
    run.seed = options_.seed;
    run.stop = options_.stop;
    return run;
  }

  Status Measure(const RunOptions& run) {
    Row row{
        .workload = run.workload, .distribution = run.distribution, .threads = run.threads, .shards = options_.shards};
    BRAID_TRY(row.server, RunWorkload(server_, run));
    if (Stopped()) return {};
    if (bare_ != nullptr) {
      BRAID_TRY(row.bare, RunWorkload(*bare_, run));
      if (Stopped()) return {};
    }
    if (options_.on_row) options_.on_row(row);
    rows.push_back(std::move(row));
    return {};
  }

  const SuiteOptions& options_;
  Target& server_;
  Target* const bare_;
  bool loaded_ = false;
};

}  // namespace

Result<std::vector<Row>> RunSuite(const SuiteOptions& options) {
  ServerTarget where = options.server;
  where.sessions_max = *std::max_element(options.threads.begin(), options.threads.end());
  BRAID_TRY(const std::unique_ptr<Target> server, ConnectTo(where));
  std::unique_ptr<Target> bare;
  if (options.baseline) {
    BRAID_TRY(bare, OpenBare(options.baseline_parent, where.durable));
  }
  Suite suite(options, *server, bare.get());
  for (const int threads : options.threads) {
    for (const Workload* workload : options.workloads) {
      if (suite.Stopped()) break;
      BRAID_CHECK_OK(suite.RunOne(*workload, threads));
    }
  }
  if (!options.keep) BRAID_CHECK_OK(server->Reset());
  return std::move(suite.rows);
}

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
