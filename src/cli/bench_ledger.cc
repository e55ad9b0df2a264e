// braid bench ledger: hash chains, one for everything and one per symbol, compared with bare RocksDB and SHA-256.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "base/strings.h"
#include "bench/ledger.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

const char* NameOf(const bench::LedgerRow& row) { return row.spread ? NameOf(*row.spread) : "bare RocksDB"; }

std::string RatioText(std::optional<double> ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : ""; }
std::string RatioJson(std::optional<double> ratio) { return ratio ? fmt::format("{:.4f}", *ratio) : "null"; }

constexpr const char* kAppendHeader =
    "scenario          chains writers batch   records  records/s to global to bare   p50 ms   p99 ms p99.9 ms  cpu "
    "us/r\n"
    "----------------- ------ ------- ----- --------- ---------- --------- ------- -------- -------- -------- "
    "--------\n";

std::string TextOf(const bench::LedgerRow& row) {
  return fmt::format("{:<17} {:>6} {:>7} {:>5} {:>9} {:>10.0f} {:>9} {:>7} {:>8.2f} {:>8.2f} {:>8.2f} {:>7.1f}{}\n",
                     NameOf(row), row.chains > 0 ? StrCat(row.chains) : "", row.writers, row.batch, row.records,
                     row.rate(), RatioText(row.to_global), RatioText(row.to_bare), row.p50_ms, row.p99_ms, row.p999_ms,
                     row.cpu_micros, row.server_cpu ? "+" : " ");
}

constexpr const char* kReadHeader =
    "\nreading               records of         threads       MB/s  records/s to SHA-256 to stream  cpu us/r\n"
    "--------------------- ------------------ ------- ---------- ---------- ---------- --------- ---------\n";

std::string TextOf(const bench::LedgerReadRow& row) {
  return fmt::format("{:<21} {:<18} {:>7} {:>10.1f} {:>10.0f} {:>10} {:>9} {:>9.2f}\n", NameOf(row.what),
                     NameOf(row.spread), row.threads, row.megabytes_per_second(),
                     row.seconds > 0 ? static_cast<double>(row.records) / row.seconds : 0, RatioText(row.to_sha),
                     RatioText(row.to_stream), row.cpu_micros);
}

constexpr const char* kRecoveryHeader =
    "\nduring load              records  records/s     alone   ratio  appends/s     alone   ratio\n"
    "--------------------- ---------- ---------- --------- ------- ---------- --------- -------\n";

std::string TextOf(const bench::LedgerRecoveryRow& row) {
  return fmt::format("{:<21} {:>10} {:>10.0f} {:>9.0f} {:>7.2f} {:>10.0f} {:>9.0f} {:>7.2f}\n", NameOf(row.what),
                     row.records, row.rate, row.rate_alone, row.to_alone(), row.appends, row.appends_alone,
                     row.appends_to_alone());
}

constexpr const char* kEngineHeader =
    "\nengines      number in flight   outputs  outputs/s to calls   p50 ms   p99 ms p99.9 ms  cpu us/o\n"
    "------------ ------ --------- --------- ---------- -------- -------- -------- -------- ---------\n";

const char* WayOf(const bench::LedgerEngineRow& row) { return row.tcp ? "TCP" : "calls"; }

std::string TextOf(const bench::LedgerEngineRow& row) {
  return fmt::format("{:<12} {:>6} {:>9} {:>9} {:>10.0f} {:>8} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.1f}{}\n", WayOf(row),
                     row.engines, row.in_flight, row.outputs, row.rate(), RatioText(row.to_calls), row.p50_ms,
                     row.p99_ms, row.p999_ms, row.cpu_micros, row.server_cpu ? "+" : " ");
}

// The first call prints the header too.
template <typename Row>
std::function<void(const Row&)> Table(std::FILE* out, const char* header) {
  return [out, header, started = false](const Row& row) mutable {
    if (!std::exchange(started, true)) std::fputs(header, out);
    std::fputs(TextOf(row).c_str(), out);
    std::fflush(out);
  };
}

// Prints each row to `out`, with the header of its table before the first.
bench::LedgerObserver LedgerTables(std::FILE* out) {
  return {.on_append = Table<bench::LedgerRow>(out, kAppendHeader),
          .on_read = Table<bench::LedgerReadRow>(out, kReadHeader),
          .on_recovery = Table<bench::LedgerRecoveryRow>(out, kRecoveryHeader),
          .on_engines = Table<bench::LedgerEngineRow>(out, kEngineHeader)};
}

// One object; docs/benchmarks_ledger.md has its fields.
std::string LedgerJson(const bench::LedgerOptions& options, const bench::LedgerReport& report) {
  std::string text = fmt::format(
      "{{\"benchmark\":\"ledger\",\"recordSize\":{},\"randomBytes\":{},\"symbols\":{},\"seed\":{},\"appends\":[",
      options.record_bytes, options.random_bytes, options.symbols, options.seed);
  for (const bench::LedgerRow& row : report.appends) {
    text += fmt::format(
        "{}{{\"scenario\":\"{}\",\"chains\":{},\"writers\":{},\"batch\":{},\"inFlight\":{},\"records\":{},"
        "\"seconds\":{:.3f},\"recordsPerSecond\":{:.1f},\"toGlobalChain\":{},\"toBare\":{},\"latencyMs\":{{\"p50\":"
        "{:.3f},\"p99\":{:.3f},\"p999\":{:.3f}}},\"cpuMicrosPerRecord\":{:.2f},\"serverCpuIncluded\":{},"
        "\"recordsPerCommit\":{:.1f},\"verified\":{}}}",
        text.ends_with('[') ? "" : ",", NameOf(row), row.chains, row.writers, row.batch, row.in_flight, row.records,
        row.seconds, row.rate(), RatioJson(row.to_global), RatioJson(row.to_bare), row.p50_ms, row.p99_ms, row.p999_ms,
        row.cpu_micros, row.server_cpu, row.commit_records, row.verified);
  }
  text += "],\"reads\":[";
  for (const bench::LedgerReadRow& row : report.reads) {
    text += fmt::format(
        "{}{{\"reading\":\"{}\",\"recordsOf\":\"{}\",\"threads\":{},\"records\":{},\"payloadBytes\":{},"
        "\"seconds\":{:.4f},\"megabytesPerSecond\":{:.2f},\"cpuMicrosPerRecord\":{:.3f},\"toSha256\":{},"
        "\"toSha256Stream\":{}}}",
        text.ends_with('[') ? "" : ",", NameOf(row.what), NameOf(row.spread), row.threads, row.records,
        row.payload_bytes, row.seconds, row.megabytes_per_second(), row.cpu_micros, RatioJson(row.to_sha),
        RatioJson(row.to_stream));
  }
  text += "],\"recoveries\":[";
  for (const bench::LedgerRecoveryRow& row : report.recoveries) {
    text += fmt::format(
        "{}{{\"reading\":\"{}\",\"records\":{},\"seconds\":{:.4f},\"recordsPerSecond\":{:.1f},"
        "\"recordsPerSecondAlone\":{:.1f},\"toAlone\":{:.4f},\"appendsPerSecond\":{:.1f},"
        "\"appendsPerSecondAlone\":{:.1f},\"appendsToAlone\":{:.4f}}}",
        text.ends_with('[') ? "" : ",", NameOf(row.what), row.records, row.seconds, row.rate, row.rate_alone,
        row.to_alone(), row.appends, row.appends_alone, row.appends_to_alone());
  }
  text += "],\"engines\":[";
  for (const bench::LedgerEngineRow& row : report.engines) {
    text += fmt::format(
        "{}{{\"way\":\"{}\",\"engines\":{},\"inFlight\":{},\"outputs\":{},\"seconds\":{:.3f},"
        "\"outputsPerSecond\":{:.1f},\"toCalls\":{},\"latencyMs\":{{\"p50\":{:.3f},\"p99\":{:.3f},\"p999\":{:.3f}}},"
        "\"cpuMicrosPerOutput\":{:.2f},\"serverCpuIncluded\":{}}}",
        text.ends_with('[') ? "" : ",", WayOf(row), row.engines, row.in_flight, row.outputs, row.seconds, row.rate(),
        RatioJson(row.to_calls), row.p50_ms, row.p99_ms, row.p999_ms, row.cpu_micros, row.server_cpu);
  }
  return text + "]}";
}

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
  app.add_option("--record-size", options.record_bytes, "Approximate size of a record in bytes of JSON.")
      ->check(CLI::Range(size_t{1}, Chains::kPayloadBytesMax))
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_flag("--random-bytes", options.random_bytes, "Records of random bytes, which cannot be compressed.");
  app.add_option("--symbols", options.symbols, "Number of chains in the runs with one per symbol.")
      ->check(CLI::Range(1u, bench::kSymbolsMax))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--writers", options.writers,
                 "Numbers of writers in the runs with one chain per symbol; one run for each.")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--batch", options.batches,
                 "The most records per commit; everything is run for each number of the list.")
      ->delimiter(',')
      ->check(CLI::Range(1, 10'000))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--in-flight", options.in_flight,
                 "The most records submitted and not acknowledged; by default two batches per writer.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32))
      ->type_name("N");
  app.add_option("--seconds", options.seconds_max, "Time limit of a run of appends or of engines.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--engines", options.engine_counts,
                 "Numbers of engines that use the service at the same time, by calls and over TCP; one run for each.")
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
  app.add_option(
         "--baseline-dir", options.bare_parent,
         "Directory for bare RocksDB; by default beside the store, or the current directory if that is a server.")
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
  std::fputs(
      "to global, to bare: ratio of records/s to the run with the same batches. The chains of every run were "
      "verified.\n",
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
