// braid bench: measures a server beside bare RocksDB.
#include <stdlib.h>
#include <string.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/strings.h"
#include "bench/suite.h"
#include "braid/embedded.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "client/server_process.h"

namespace braid::cli {
namespace {

constexpr double kShardSeconds = 4;  // of a run with --shards

struct BenchArgs {
  std::string store = "./data";
  std::vector<std::string> workloads = {"a", "b", "c", "d", "e", "f"};
  std::string distribution;
  bool no_baseline = false;
  bool json = false;
  std::vector<int> shards;
  bench::SuiteOptions suite;
};

std::string WorkloadHelp() {
  std::string help = "Workloads, separated by commas:";
  for (const bench::Workload& workload : bench::Workloads()) help += StrCat("\n  ", workload.name, ": ", workload.help);
  return help;
}

std::string ShardsHelp() {
  std::string help =
      "Measures a collection sharded by {_id: \"hashed\"} instead, for each number of shards on a new server and a new "
      "directory beside the store, removed at the end; each run takes --seconds, 4 by default. The workloads:";
  for (const bench::Workload& workload : bench::ShardWorkloads()) {
    help += StrCat("\n  ", workload.name, ": ", workload.help);
  }
  return help;
}

void AddBenchOptions(CLI::App& app, BenchArgs& args) {
  bench::SuiteOptions& suite = args.suite;
  AddStoreOption(app, args.store);
  CLI::Option* workload = app.add_option("--workload", args.workloads, WorkloadHelp())
                              ->delimiter(',')
                              ->type_name("LIST")
                              ->capture_default_str();
  app.add_option("--records", suite.records, "Records to load before a run.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* operations = app.add_option("--operations", suite.operations, "Operations of a run.")
                                ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
                                ->type_name("N")
                                ->capture_default_str();
  app.add_option("--seconds", suite.seconds, "Length of a run, instead of --operations.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->excludes(operations);
  app.add_option("--threads", suite.threads, "Connections at work at the same time; a list runs everything for each.")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_flag("--durable,!--no-durable", suite.server.durable,
               "Writes are answered once they are on disk (writeConcern j), and bare RocksDB syncs each. The default.");
  app.add_option("--batch", suite.batch, "Records per request, for loading and for insertmany.")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--distribution", args.distribution,
                 "How records are chosen: zipfian, latest or uniform; each workload has its own.")
      ->type_name("NAME");
  app.add_option("--seed", suite.seed, "The same seed makes the same operations.")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--db", suite.server.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("--collection", suite.server.collection, "Collection. It is dropped before and after.")
      ->type_name("NAME")
      ->capture_default_str();
  CLI::Option* no_baseline = app.add_flag("--no-baseline", args.no_baseline, "Leaves out bare RocksDB.");
  CLI::Option* baseline_dir =
      app.add_option(
             "--baseline-dir", suite.baseline_parent,
             "Directory for bare RocksDB; by default beside the store, or the current directory if that is a server.")
          ->type_name("DIR");
  app.add_flag("--json", args.json, "One JSON object on standard output; the table goes to standard error.");
  CLI::Option* keep = app.add_flag("--keep", suite.keep, "Leaves the collection as the last workload left it.");
  app.add_option("--shards", args.shards, ShardsHelp())
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->type_name("LIST")
      ->excludes(workload)
      ->excludes(operations)
      ->excludes(no_baseline)
      ->excludes(baseline_dir)
      ->excludes(keep);
}

Status EndOf(const bench::SuiteOptions& suite) {
  return suite.stop->load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

// A server with so many shards on a new directory, which is removed after the server has stopped.
Status WithServer(const std::string& parent, int shards, const std::function<Status(const std::string& uri)>& use) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  std::string directory = (std::filesystem::path(parent) / "braid-shards-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    return Status(Code::kBadValue, StrCat("cannot make a directory in '", parent, "': ", strerror(errno)));
  }
  const auto serve = [&]() -> Status {
    BRAID_TRY(const std::unique_ptr<client::ServerProcess> process,
              client::ServerProcess::Start({.directory = directory, .shards = shards}));
    return use(process->uri());
  };
  Status status = serve();
  std::filesystem::remove_all(directory, error);
  return status;
}

Status RunShards(BenchArgs& args) {
  if (IsUri(args.store)) {
    return Status(Code::kBadValue,
                  StrCat("--shards starts servers of its own, for the number of shards of a server that runs (",
                         args.store, ") cannot be changed: give a directory as --store"));
  }
  bench::ShardsOptions options;
  options.suite = args.suite;
  if (options.suite.seconds <= 0) options.suite.seconds = kShardSeconds;
  options.shards = args.shards;
  options.with_server = [parent = DirectoryBeside(args.store)](int shards, const auto& use) {
    return WithServer(parent, shards, use);
  };
  FILE* people = args.json ? stderr : stdout;
  std::fputs(bench::ShardTableHeader().c_str(), people);
  options.on_row = [people](const bench::Row& row, const bench::Row* one) {
    std::fputs(bench::ShardTableRow(row, one).c_str(), people);
    std::fflush(people);
  };
  BRAID_TRY(const std::vector<bench::Row> rows, bench::RunShards(options));
  if (args.json) std::printf("%s\n", bench::ShardsToJson(options.suite, rows).c_str());
  return EndOf(options.suite);
}

Status RunYcsb(BenchArgs& args) {
  bench::SuiteOptions& suite = args.suite;
  suite.stop = &StopOnInterrupt();
  for (const std::string& name : args.workloads) {
    BRAID_TRY(const bench::Workload* workload, bench::FindWorkload(name));
    suite.workloads.push_back(workload);
  }
  if (!args.distribution.empty()) {
    BRAID_TRY(suite.distribution, bench::ParseDistribution(args.distribution));
  }
  if (!args.shards.empty()) return RunShards(args);
  suite.baseline = !args.no_baseline;
  if (suite.baseline_parent.empty()) suite.baseline_parent = DirectoryBeside(args.store);

  std::unique_ptr<client::ServerProcess> process;
  suite.server.uri = args.store;
  if (!IsUri(args.store)) {
    BRAID_TRY(process, client::ServerProcess::Start({.directory = args.store}));
    suite.server.uri = process->uri();
  }
  FILE* people = args.json ? stderr : stdout;
  std::fputs(bench::TableHeader().c_str(), people);
  suite.on_row = [people](const bench::Row& row) {
    std::fputs(bench::TableRow(row).c_str(), people);
    std::fflush(people);
  };
  BRAID_TRY(const std::vector<bench::Row> rows, bench::RunSuite(suite));
  if (args.json) std::printf("%s\n", bench::ToJson(suite, rows).c_str());
  return EndOf(suite);
}

Action SetUpYcsb(CLI::App& app) {
  const auto args = std::make_shared<BenchArgs>();
  AddBenchOptions(app, *args);
  return [args] { return RunYcsb(*args); };
}

constexpr Subcommand kBenches[] = {
    {"counters",
     "Hot counters of staking events: one document, logical shards chosen at random, and Braid's way, durable and "
     "exact.",
     SetUpBenchCounters},
    {"explorer",
     "The block explorer's index: import alone and beside readers, the ten queries on a growing chain, and pops; "
     "verified.",
     SetUpBenchExplorer},
    {"ledger",
     "Hash chains: one for everything compared with one per symbol and parallel writers, durable and verified; reading "
     "and verifying them compared with SHA-256.",
     SetUpBenchLedger},
    {"shop",
     "The storefront: a shopping mix, a flash sale beside one that reads, decides and writes, and the catalogue as it "
     "grows; verified.",
     SetUpBenchShop},
    {"ycsb",
     "The workloads A to F of YCSB, point finds and inserts: throughput, latency, CPU of the server, and the same on "
     "bare "
     "RocksDB.",
     SetUpYcsb},
};

}  // namespace

Action SetUpBench(CLI::App& app) { return SetUpNested(app, kBenches); }

}  // namespace braid::cli
