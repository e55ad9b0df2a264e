// braid bench ledger: hash chains, one for everything and one a symbol, beside bare RocksDB and SHA-256.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cli/bench_ledger_report.h"
#include "cli/interrupt.h"
#include "cli/store_option.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

struct BenchLedgerArgs {
  std::string store = "./data";
  bool no_baseline = false;
  bool json = false;
  std::vector<std::string> parts = {"appends", "reads", "recovery", "engines"};
  bench::LedgerOptions options;
};

void AddBenchLedgerOptions(CLI::App& app, BenchLedgerArgs& args) {
  bench::LedgerOptions& options = args.options;
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", options.database, "Database. It is dropped before and after each run.")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--records", options.records, "Records of a run; all are in memory.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--record-size", options.record_bytes, "About so many bytes of JSON a record.")
      ->check(CLI::Range(size_t{1}, Chains::kPayloadBytesMax))
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_flag("--random-bytes", options.random_bytes, "Records of random bytes, which cannot be compressed.");
  app.add_option("--symbols", options.symbols, "Chains of the runs with one a symbol.")
      ->check(CLI::Range(1u, bench::kSymbolsMax))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--writers", options.writers, "Writers of the chains of symbols; a run for each of the list.")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--batch", options.batches, "The most records a commit; everything is run for each of the list.")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--in-flight", options.in_flight,
                 "The most records submitted and not acknowledged; two batches a writer by default.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32))
      ->type_name("N");
  app.add_option("--seconds", options.seconds_max, "A run of appends or of engines ends after so long.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--engines", options.engine_counts,
                 "Engines that use the service at the same time, by calls and over TCP; a run for each of the list.")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--parts", args.parts, "What is measured.")
      ->delimiter(',')
      ->check(CLI::IsMember(args.parts))
      ->type_name("LIST")
      ->capture_default_str();
  CLI::Option* no_baseline = app.add_flag("--no-baseline", args.no_baseline, "Leaves out bare RocksDB.");
  app.add_option("--baseline-dir", options.bare_parent,
                 "Where bare RocksDB works; beside the store by default, here if that is a server.")
      ->type_name("DIR")
      ->excludes(no_baseline);
  app.add_option("--seed", options.seed, "The same seed makes the same records.")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output; the tables go to standard error.");
}

Status RunBenchLedger(BenchLedgerArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  bench::LedgerOptions& options = args.options;
  options.stop = &stop;
  const auto wanted = [&](const char* part) { return std::ranges::find(args.parts, part) != args.parts.end(); };
  options.appends = wanted("appends");
  options.reads = wanted("reads");
  options.recovery = wanted("recovery");
  options.engines = wanted("engines");
  if (!args.no_baseline && options.bare_parent.empty()) options.bare_parent = DirectoryBeside(args.store);
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  FILE* people = args.json ? stderr : stdout;
  BRAID_TRY(const bench::LedgerReport report, RunLedger(*clients, options, LedgerTables(people)));
  std::fputs("to global, to bare: records/s by those with the same batches. Every run's chains were verified: sound.\n",
             people);
  if (args.json) std::printf("%s\n", LedgerJson(options, report).c_str());
  return stop.load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

}  // namespace

Action SetUpBenchLedger(CLI::App& app) {
  const auto args = std::make_shared<BenchLedgerArgs>();
  AddBenchLedgerOptions(app, *args);
  return [args] { return RunBenchLedger(*args); };
}

}  // namespace braid::cli
