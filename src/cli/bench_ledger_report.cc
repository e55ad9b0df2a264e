#include "cli/bench_ledger_report.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/strings.h"

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

}  // namespace

bench::LedgerObserver LedgerTables(std::FILE* out) {
  return {.on_append = Table<bench::LedgerRow>(out, kAppendHeader),
          .on_read = Table<bench::LedgerReadRow>(out, kReadHeader),
          .on_recovery = Table<bench::LedgerRecoveryRow>(out, kRecoveryHeader),
          .on_engines = Table<bench::LedgerEngineRow>(out, kEngineHeader)};
}

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

}  // namespace braid::cli
