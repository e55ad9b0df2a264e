// The figures for people (a table) and for programs (one JSON object).
#include "bench/suite.h"

#include <fmt/format.h>

#include <span>

#include "base/strings.h"

namespace braid::bench {
namespace {

struct Column {
  std::string_view name;
  size_t width;
};
constexpr Column kColumns[] = {{"workload", 10}, {"threads", 7},     {"ops/s", 10},     {"p50 µs", 9},
                               {"p95 µs", 9},    {"p99 µs", 9},      {"CPU µs/op", 10}, {"syncs", 8},
                               {"mem MB", 7},    {"bare ops/s", 11}, {"ratio", 6},      {"bare CPU", 8}};
constexpr Column kShardColumns[] = {{"workload", 10}, {"shards", 6}, {"threads", 7}, {"ops/s", 10},
                                    {"ratio", 6},     {"p50 µs", 9}, {"p99 µs", 9},  {"CPU µs/op", 10},
                                    {"CPU ratio", 9}, {"mem MB", 7}};

// fmt counts the width of "µ" as one column, as a terminal does.
std::string Line(std::span<const Column> columns, const std::vector<std::string>& cells) {
  std::string line = fmt::format("{:<{}}", cells[0], columns[0].width);
  for (size_t i = 1; i < cells.size(); ++i) line += fmt::format(" | {:>{}}", cells[i], columns[i].width);
  return line + "\n";
}

std::string Header(std::span<const Column> columns) {
  std::vector<std::string> names;
  std::vector<std::string> rules;
  for (const Column& column : columns) {
    names.emplace_back(column.name);
    rules.emplace_back(column.width, '-');
  }
  return Line(columns, names) + Line(columns, rules);
}

// How many times as much as on one shard.
std::optional<double> Ratio(const std::optional<double>& figure, const std::optional<double>& one) {
  if (!figure || !one || *one <= 0) return std::nullopt;
  return *figure / *one;
}
std::optional<double> RateRatio(const Row& row, const Row* one) {
  return one == nullptr ? std::nullopt : Ratio(row.server.rate(), one->server.rate());
}
std::optional<double> CpuRatio(const Row& row, const Row* one) {
  if (one == nullptr) return std::nullopt;
  return Ratio(row.server.cpu_micros_per_operation, one->server.cpu_micros_per_operation);
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
  if (measured.syncs) json.Number("syncs", static_cast<uint64_t>(*measured.syncs));
  if (measured.resident_mb) json.Number("residentMb", static_cast<uint64_t>(*measured.resident_mb));
  AppendLatency(json, "latencyMicros", measured.latency);
  json.Open("latencyMicrosByOperation");
  for (int i = 0; i < kOperations; ++i) {
    const Histogram& histogram = measured.by_operation[static_cast<size_t>(i)];
    if (histogram.count() > 0) AppendLatency(json, Name(static_cast<Operation>(i)), histogram);
  }
  json.Close().Close();
}

void AppendOptions(Json& json, const SuiteOptions& options) {
  json.Flag("durable", options.server.durable);
  json.Text("database", options.server.database).Text("collection", options.server.collection);
  json.Number("records", options.records)
      .Number("fields", uint64_t{kFields})
      .Number("fieldBytes", uint64_t{kFieldBytes});
  json.Number("batch", options.batch).Number("seed", options.seed);
}

// Left open, for more.
void AppendRow(Json& json, const Row& row) {
  json.Open().Text("workload", row.workload->name).Text("phase", row.workload == &kLoad ? "load" : "run");
  json.Text("distribution", Name(row.distribution)).Number("threads", static_cast<uint64_t>(row.threads));
  AppendMeasurement(json, "server", row.server);
}

}  // namespace

std::string TableHeader() { return Header(kColumns); }
std::string ShardTableHeader() { return Header(kShardColumns); }

std::string TableRow(const Row& row) {
  const Histogram& latency = row.server.latency;
  std::vector<std::string> cells = {row.workload->name, StrCat(row.threads), fmt::format("{:.0f}", row.server.rate())};
  for (const double quantile : {0.5, 0.95, 0.99})
    cells.push_back(fmt::format("{:.0f}", Micros(latency.Quantile(quantile))));
  cells.push_back(OrNot(row.server.cpu_micros_per_operation, 1));
  cells.push_back(row.server.syncs ? StrCat(*row.server.syncs) : "n/a");
  cells.push_back(row.server.resident_mb ? StrCat(*row.server.resident_mb) : "n/a");
  cells.push_back(row.bare ? fmt::format("{:.0f}", row.bare->rate()) : "-");
  cells.push_back(row.bare ? OrNot(row.ratio(), 2) : "-");
  cells.push_back(row.bare ? OrNot(row.bare->cpu_micros_per_operation, 1) : "-");
  return Line(kColumns, cells);
}

std::string ShardTableRow(const Row& row, const Row* one) {
  const Measurement& measured = row.server;
  const auto micros = [&](double quantile) {
    return fmt::format("{:.0f}", Micros(measured.latency.Quantile(quantile)));
  };
  const auto ratio = [one](const std::optional<double>& value) { return one == nullptr ? "-" : OrNot(value, 2); };
  return Line(kShardColumns,
              {row.workload->name, StrCat(row.shards), StrCat(row.threads), fmt::format("{:.0f}", measured.rate()),
               ratio(RateRatio(row, one)), micros(0.5), micros(0.99), OrNot(measured.cpu_micros_per_operation, 1),
               ratio(CpuRatio(row, one)), measured.resident_mb ? StrCat(*measured.resident_mb) : "n/a"});
}

std::string ToJson(const SuiteOptions& options, const std::vector<Row>& rows) {
  Json json;
  AppendOptions(json.Open().Text("benchmark", "ycsb").Text("uri", options.server.uri), options);
  json.Open("rows", '[');
  for (const Row& row : rows) {
    AppendRow(json, row);
    if (row.bare) AppendMeasurement(json, "bare", *row.bare);
    if (row.bare) json.Number("ratio", row.ratio());
    json.Close();
  }
  return json.Close().Close().Finish();
}

std::string ShardsToJson(const SuiteOptions& options, const std::vector<Row>& rows) {
  Json json;
  AppendOptions(json.Open().Text("benchmark", "ycsb-shards"), options);
  json.Open("rows", '[');
  for (const Row& row : rows) {
    const Row* one = OnOneShard(rows, row);
    AppendRow(json, row);
    json.Number("shards", static_cast<uint64_t>(row.shards));
    json.Number("ratio", RateRatio(row, one)).Number("cpuRatio", CpuRatio(row, one)).Close();
  }
  return json.Close().Close().Finish();
}

}  // namespace braid::bench
