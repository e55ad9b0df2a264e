// braid bench ledger: hash chains, one for everything and one a symbol, beside bare RocksDB and SHA-256.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "base/strings.h"
#include "bench/ledger.h"
#include "braid/embedded.h"
#include "cli/interrupt.h"
#include "cli/store_option.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

struct Args {
  std::string store = "./data";
  bool no_baseline = false;
  bool json = false;
  bench::LedgerOptions options;
};

void AddOptions(CLI::App& app, Args& args) {
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
  app.add_option("--seconds", options.seconds_max, "A run of appends ends after so long.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
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

// The directory that holds the store: the same disk.
std::string Beside(const std::string& store) {
  if (IsUri(store)) return ".";
  const std::filesystem::path path = std::filesystem::absolute(store).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).parent_path().string();
}

const char* NameOf(const bench::LedgerRow& row) { return row.spread ? NameOf(*row.spread) : "bare RocksDB"; }

std::string RatioText(std::optional<double> ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : ""; }
std::string RatioJson(std::optional<double> ratio) { return ratio ? fmt::format("{:.4f}", *ratio) : "null"; }

constexpr const char* kHeader =
    "scenario          chains writers batch   records  records/s to global to bare   p50 ms   p99 ms p99.9 ms  cpu "
    "us/r\n"
    "----------------- ------ ------- ----- --------- ---------- --------- ------- -------- -------- -------- "
    "--------\n";

std::string RowText(const bench::LedgerRow& row) {
  return fmt::format("{:<17} {:>6} {:>7} {:>5} {:>9} {:>10.0f} {:>9} {:>7} {:>8.2f} {:>8.2f} {:>8.2f} {:>7.1f}{}\n",
                     NameOf(row), row.chains > 0 ? StrCat(row.chains) : "", row.writers, row.batch, row.records,
                     row.rate(), RatioText(row.to_global), RatioText(row.to_bare), row.p50_ms, row.p99_ms, row.p999_ms,
                     row.cpu_micros, row.server_cpu ? "+" : " ");
}

constexpr const char* kReadHeader =
    "\nreading               records of         threads       MB/s  records/s to SHA-256 to stream  cpu us/r\n"
    "--------------------- ------------------ ------- ---------- ---------- ---------- --------- ---------\n";

std::string ReadText(const bench::LedgerReadRow& row) {
  return fmt::format("{:<21} {:<18} {:>7} {:>10.1f} {:>10.0f} {:>10} {:>9} {:>9.2f}\n", NameOf(row.what),
                     NameOf(row.spread), row.threads, row.megabytes_per_second(),
                     row.seconds > 0 ? static_cast<double>(row.records) / row.seconds : 0, RatioText(row.to_sha),
                     RatioText(row.to_stream), row.cpu_micros);
}

std::string Json(const bench::LedgerOptions& options, const bench::LedgerReport& report) {
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
  return text + "]}";
}

Status Run(Args& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  bench::LedgerOptions& options = args.options;
  options.stop = &stop;
  if (!args.no_baseline && options.bare_parent.empty()) options.bare_parent = Beside(args.store);
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  FILE* people = args.json ? stderr : stdout;
  std::fputs(kHeader, people);
  const auto show = [&](const bench::LedgerRow& row) {
    std::fputs(RowText(row).c_str(), people);
    std::fflush(people);
  };
  bool reading = false;
  const auto show_read = [&](const bench::LedgerReadRow& row) {
    if (!std::exchange(reading, true)) std::fputs(kReadHeader, people);
    std::fputs(ReadText(row).c_str(), people);
    std::fflush(people);
  };
  BRAID_TRY(const bench::LedgerReport report, RunLedger(*clients, options, show, show_read));
  std::fputs("to global, to bare: records/s by those with the same batches. Every run's chains were verified: sound.\n",
             people);
  if (args.json) std::printf("%s\n", Json(options, report).c_str());
  return stop.load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

}  // namespace

Action SetUpBenchLedger(CLI::App& app) {
  const auto args = std::make_shared<Args>();
  AddOptions(app, *args);
  return [args] { return Run(*args); };
}

}  // namespace braid::cli
