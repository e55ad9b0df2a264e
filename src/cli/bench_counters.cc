// braid bench counters: three ways to keep hot counters, side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "bench/counters.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

struct BenchCountersArgs {
  std::string store = "./data";
  bool json = false;
  bench::CountersOptions options;
};

void AddBenchCountersOptions(CLI::App& app, BenchCountersArgs& args) {
  bench::CountersOptions& options = args.options;
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", options.database, "Database. It is dropped before and after each run.")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--events", options.events, "Events of a run.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds_max, "Time limit of a run with one transaction per event.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--writers", options.writers, "Numbers of writers with one transaction per event; one run for each.")
      ->delimiter(',')
      ->check(CLI::Range(1, 100))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--workers", options.workers, "Concurrent batches, each with a logical shard of its own.")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--duplicates", options.duplicate_percents, "Percent of repeated events; everything is run for each.")
      ->delimiter(',')
      ->check(CLI::Range(0, 90))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--logical-shard-count", options.shard_count, "Documents that a counter is spread over.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed makes the same events.")->type_name("N")->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output; the table goes to standard error.");
}

std::string RowText(const bench::CountersRow& row, double seed_rate) {
  return fmt::format("{:<16} {:>7} {:>10}% {:>9} {:>8.2f} {:>10.0f} {:>7} {:>9.1f}{} {:>8}\n", NameOf(row.way),
                     row.writers, row.duplicate_percent, row.events, row.seconds, row.rate(),
                     seed_rate > 0 ? fmt::format("{:.1f}", row.rate() / seed_rate) : "", row.cpu_micros,
                     row.server_cpu ? "+" : " ", row.retries);
}

std::string Json(const std::vector<bench::CountersRow>& rows) {
  std::string text = "{\"runs\":[";
  for (const bench::CountersRow& row : rows) {
    text += fmt::format(
        "{}{{\"way\":\"{}\",\"writers\":{},\"duplicate_percent\":{},\"events\":{},\"seconds\":{:.3f},"
        "\"events_per_second\":{:.1f},\"cpu_micros_per_event\":{:.2f},\"server_cpu_included\":{},\"retries\":{},"
        "\"audit_ok\":{}}}",
        text.ends_with('[') ? "" : ",", NameOf(row.way), row.writers, row.duplicate_percent, row.events, row.seconds,
        row.rate(), row.cpu_micros, row.server_cpu, row.retries, row.audited);
  }
  return text + "]}";
}

Status RunBenchCounters(BenchCountersArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  args.options.stop = &stop;
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  FILE* people = args.json ? stderr : stdout;
  std::fputs(
      "way              writers duplicates    events  seconds   events/s  ratio  cpu us/ev  retries\n"
      "---------------- ------- ---------- --------- -------- ---------- ------- ---------- --------\n",
      people);
  double seed_rate = 0;  // the best of the random shards with these duplicates
  const auto show = [&](const bench::CountersRow& row) {
    if (row.way == bench::CounterWay::kHot) seed_rate = 0;
    if (row.way == bench::CounterWay::kSeed) seed_rate = std::max(seed_rate, row.rate());
    std::fputs(RowText(row, row.way == bench::CounterWay::kBraid ? seed_rate : 0).c_str(), people);
    std::fflush(people);
  };
  BRAID_TRY(const std::vector<bench::CountersRow> rows, RunCounters(*clients, args.options, show));
  std::fputs("ratio: to the best run with a random shard and the same duplicates. Every run was audited: exact.\n",
             people);
  if (args.json) std::printf("%s\n", Json(rows).c_str());
  return stop.load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

}  // namespace

Action SetUpBenchCounters(CLI::App& app) {
  const auto args = std::make_shared<BenchCountersArgs>();
  AddBenchCountersOptions(app, *args);
  return [args] { return RunBenchCounters(*args); };
}

}  // namespace braid::cli
