#include "bench/report.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace braid::bench {
namespace {

constexpr std::string_view kColumns[] = {"workload", "threads",   "ops/s",  "p50 µs",     "p95 µs",
                                         "p99 µs",   "CPU µs/op", "mem MB", "bare ops/s", "ratio"};
constexpr size_t kWidths[] = {10, 7, 10, 9, 9, 9, 10, 7, 11, 6};

// fmt counts the width of "µ" as one column, as a terminal does.
std::string Line(const std::vector<std::string>& cells) {
  std::string line = fmt::format("{:<{}}", cells[0], kWidths[0]);
  for (size_t i = 1; i < cells.size(); ++i) line += fmt::format(" | {:>{}}", cells[i], kWidths[i]);
  return line;
}

double Micros(uint64_t nanos) { return static_cast<double>(nanos) / 1000; }

std::string OrNot(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "n/a";
}

// Objects within objects, written as they come. Names and values of ours need no escaping but for the URI and names.
class Json {
 public:
  Json& Open(std::string_view name = "", char bracket = '{') {
    Name(name);
    text_ += bracket;
    first_ = true;
    closers_ += bracket == '{' ? '}' : ']';
    return *this;
  }
  Json& Close() {
    text_ += closers_.back();
    closers_.pop_back();
    first_ = false;
    return *this;
  }
  Json& Number(std::string_view name, double value) {
    Name(name);
    text_ += fmt::format("{:.3f}", value);
    return *this;
  }
  Json& Number(std::string_view name, uint64_t value) { return Raw(name, fmt::format("{}", value)); }
  Json& Number(std::string_view name, const std::optional<double>& value) {
    return value ? Number(name, *value) : Raw(name, "null");
  }
  Json& Flag(std::string_view name, bool value) { return Raw(name, value ? "true" : "false"); }
  Json& Text(std::string_view name, std::string_view value) {
    std::string quoted = "\"";
    for (const char c : value) {
      if (static_cast<unsigned char>(c) < 0x20) {
        quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
        continue;
      }
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return Raw(name, quoted + '"');
  }
  std::string Finish() { return std::move(text_); }

 private:
  Json& Raw(std::string_view name, std::string_view value) {
    Name(name);
    text_ += value;
    return *this;
  }
  void Name(std::string_view name) {
    if (!first_) text_ += ',';
    first_ = false;
    if (!name.empty()) text_ += fmt::format("\"{}\":", name);
  }
  std::string text_;
  std::string closers_;
  bool first_ = true;
};

void AppendLatency(Json& json, std::string_view name, const Histogram& histogram) {
  json.Open(name).Number("count", histogram.count()).Number("mean", histogram.mean() / 1000);
  json.Number("p50", Micros(histogram.Quantile(0.5))).Number("p95", Micros(histogram.Quantile(0.95)));
  json.Number("p99", Micros(histogram.Quantile(0.99))).Number("max", Micros(histogram.max())).Close();
}

void AppendMeasurement(Json& json, std::string_view name, const Measurement& measured) {
  json.Open(name).Number("operations", measured.operations).Number("seconds", measured.seconds);
  json.Number("opsPerSecond", measured.rate()).Number("cpuMicrosPerOperation", measured.cpu_micros_per_operation);
  if (measured.resident_mb) json.Number("residentMb", static_cast<uint64_t>(*measured.resident_mb));
  AppendLatency(json, "latencyMicros", measured.latency);
  json.Open("latencyMicrosByOperation");
  for (int i = 0; i < kOperations; ++i) {
    const Histogram& histogram = measured.by_operation[static_cast<size_t>(i)];
    if (histogram.count() > 0) AppendLatency(json, Name(static_cast<Operation>(i)), histogram);
  }
  json.Close().Close();
}

}  // namespace

std::string TableHeader() {
  std::vector<std::string> rules;
  for (const size_t width : kWidths) rules.emplace_back(width, '-');
  return StrCat(Line({std::begin(kColumns), std::end(kColumns)}), "\n", Line(rules), "\n");
}

std::string TableRow(const Row& row) {
  const Histogram& latency = row.server.latency;
  std::vector<std::string> cells = {row.workload->name, StrCat(row.threads), fmt::format("{:.0f}", row.server.rate())};
  for (const double quantile : {0.5, 0.95, 0.99})
    cells.push_back(fmt::format("{:.0f}", Micros(latency.Quantile(quantile))));
  cells.push_back(OrNot(row.server.cpu_micros_per_operation, 1));
  cells.push_back(row.server.resident_mb ? StrCat(*row.server.resident_mb) : "n/a");
  cells.push_back(row.bare ? fmt::format("{:.0f}", row.bare->rate()) : "-");
  cells.push_back(row.bare ? OrNot(row.ratio(), 2) : "-");
  return StrCat(Line(cells), "\n");
}

std::string ToJson(const SuiteOptions& options, const std::vector<Row>& rows) {
  Json json;
  json.Open().Text("benchmark", "ycsb").Text("uri", options.server.uri).Flag("durable", options.server.durable);
  json.Text("database", options.server.database).Text("collection", options.server.collection);
  json.Number("records", options.records)
      .Number("fields", uint64_t{kFields})
      .Number("fieldBytes", uint64_t{kFieldBytes});
  json.Number("batch", options.batch).Number("seed", options.seed).Open("rows", '[');
  for (const Row& row : rows) {
    json.Open().Text("workload", row.workload->name).Text("phase", row.workload == &kLoad ? "load" : "run");
    json.Text("distribution", Name(row.distribution)).Number("threads", static_cast<uint64_t>(row.threads));
    AppendMeasurement(json, "server", row.server);
    if (row.bare) AppendMeasurement(json, "bare", *row.bare);
    if (row.bare) json.Number("ratio", row.ratio());
    json.Close();
  }
  return json.Close().Close().Finish();
}

}  // namespace braid::bench
