// braid bench shop: a shopping mix, a flash sale beside the seed's own way of selling, and the catalogue as it grows.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "base/strings.h"
#include "bench/shop.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

using bench::Histogram;
using bench::ShopOperation;

double QuantileMs(const Histogram& nanos, double quantile) {
  return static_cast<double>(nanos.Quantile(quantile)) / 1e6;
}

std::string ErrorsText(const std::map<std::string, uint64_t>& errors) {
  std::string text;
  for (const auto& [code, count] : errors) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", code, count);
  return text;
}

constexpr const char* kMixHeader =
    "mix        threads operations      ops/s   p50 ms   p99 ms errors\n"
    "---------- ------- ---------- ---------- -------- -------- ------\n";

std::string RoutingText(const bench::ShopMixRow& row) {
  const std::optional<double> share = row.targeted_share();
  if (!share) return "targeted share: not available";
  std::string text = fmt::format("targeted share: {:.3f} (scattered:", *share);
  const size_t before = text.size();
  for (const bench::ShopRouting& one : *row.routing) {
    if (one.scattered > 0) text += fmt::format(" {} {}", one.collection, one.scattered);
  }
  return text + (text.size() == before ? " none)" : ")");
}

std::string ShopTextOf(const bench::ShopMixRow& row) {
  std::string text;
  for (size_t i = 0; i < bench::kShopOperations; ++i) {
    const bench::ShopOperationFigures& figures = row.operations[i];
    if (figures.nanos.count() == 0 && figures.errors.empty()) continue;
    text +=
        fmt::format("{:<10} {:>7} {:>10} {:>10.0f} {:>8.2f} {:>8.2f} {}\n", NameOf(static_cast<ShopOperation>(i)),
                    row.threads, figures.nanos.count(), static_cast<double>(figures.nanos.count()) / row.cost.seconds,
                    QuantileMs(figures.nanos, 0.5), QuantileMs(figures.nanos, 0.99), ErrorsText(figures.errors));
  }
  text += fmt::format("{:<10} {:>7} {:>10} {:>10.0f}  cpu us/op {:.1f}{}, conflicts retried {}, {}\n", "all",
                      row.threads, row.done(), row.rate(), row.cost.cpu_micros, row.cost.server_cpu ? "+" : "",
                      row.cost.retries, RoutingText(row));
  return text;
}

constexpr const char* kSaleHeader =
    "\nflash sale      threads  units buyers   sold oversold   left refused    sold/s   p50 ms   p99 ms retries cpu "
    "us/sale\n"
    "--------------- ------- ------ ------ ------ -------- ------ ------- --------- -------- -------- ------- "
    "-----------\n";

std::string ShopTextOf(const bench::ShopSaleRow& row) {
  return fmt::format("{:<15} {:>7} {:>6} {:>6} {:>6} {:>8} {:>6} {:>7} {:>9.0f} {:>8.2f} {:>8.2f} {:>7} {:>10.0f}{}\n",
                     NameOf(row.way), row.threads, row.units, row.buyers, row.sold, row.oversold(), row.left,
                     row.refused, row.rate(), QuantileMs(row.nanos, 0.5), QuantileMs(row.nanos, 0.99), row.cost.retries,
                     row.cost.cpu_micros, row.cost.server_cpu ? "+" : " ");
}

constexpr const char* kCatalogueHeader =
    "\ncatalogue            products products before it  pages   p50 ms   p99 ms\n"
    "------------------ ---------- ------------------ ------ -------- --------\n";

std::string ShopTextOf(const bench::ShopCatalogueRow& row) {
  return fmt::format("{:<18} {:>10} {:>18} {:>6} {:>8.2f} {:>8.2f}\n", NameOf(row.page), row.products, row.depth,
                     row.nanos.count(), QuantileMs(row.nanos, 0.5), QuantileMs(row.nanos, 0.99));
}

// The first call prints the header too.
template <typename Row>
std::function<void(const Row&)> ShopTable(std::FILE* out, const char* header) {
  return [out, header, started = false](const Row& row) mutable {
    if (!std::exchange(started, true)) std::fputs(header, out);
    std::fputs(ShopTextOf(row).c_str(), out);
    std::fflush(out);
  };
}

std::string LatencyJson(const Histogram& nanos) {
  return fmt::format("{{\"p50\":{:.4f},\"p99\":{:.4f}}}", QuantileMs(nanos, 0.5), QuantileMs(nanos, 0.99));
}

std::string ShopJsonOf(const bench::ShopOperationFigures& figures, const char* name, double seconds) {
  std::string text =
      fmt::format("{{\"operation\":\"{}\",\"count\":{},\"opsPerSecond\":{:.1f},\"latencyMs\":{},\"errors\":{{", name,
                  figures.nanos.count(), seconds > 0 ? static_cast<double>(figures.nanos.count()) / seconds : 0,
                  LatencyJson(figures.nanos));
  for (const auto& [code, count] : figures.errors) {
    text += fmt::format("{}\"{}\":{}", text.ends_with('{') ? "" : ",", code, count);
  }
  return text + "}}";
}

std::string ShopJsonOf(const bench::ShopMixRow& row) {
  std::string text = fmt::format("{{\"threads\":{},\"seconds\":{:.3f},\"operations\":[", row.threads, row.cost.seconds);
  for (size_t i = 0; i < bench::kShopOperations; ++i) {
    text += StrCat(i == 0 ? "" : ",",
                   ShopJsonOf(row.operations[i], NameOf(static_cast<ShopOperation>(i)), row.cost.seconds));
  }
  const std::optional<double> share = row.targeted_share();
  text += fmt::format(
      "],\"count\":{},\"errors\":{},\"opsPerSecond\":{:.1f},\"cpuMicrosPerOperation\":{:.2f},\"serverCpuIncluded\":{},"
      "\"conflictsRetried\":{},\"unitsSold\":{},\"targetedShare\":{},\"routing\":",
      row.done(), row.failed(), row.rate(), row.cost.cpu_micros, row.cost.server_cpu, row.cost.retries, row.units_sold,
      share ? fmt::format("{:.4f}", *share) : "null");
  if (!row.routing) return text + "null}";
  text += "[";
  for (const bench::ShopRouting& one : *row.routing) {
    text += fmt::format("{}{{\"collection\":\"{}\",\"targeted\":{},\"scattered\":{}}}", text.ends_with('[') ? "" : ",",
                        one.collection, one.targeted, one.scattered);
  }
  return text + "]}";
}

std::string ShopJsonOf(const bench::ShopSaleRow& row) {
  return fmt::format(
      "{{\"way\":\"{}\",\"threads\":{},\"units\":{},\"buyers\":{},\"sold\":{},\"oversold\":{},\"left\":{},"
      "\"refused\":{},\"seconds\":{:.3f},\"soldPerSecond\":{:.1f},\"latencyMs\":{},\"conflictsRetried\":{},"
      "\"cpuMicrosPerSale\":{:.2f},\"serverCpuIncluded\":{}}}",
      NameOf(row.way), row.threads, row.units, row.buyers, row.sold, row.oversold(), row.left, row.refused,
      row.cost.seconds, row.rate(), LatencyJson(row.nanos), row.cost.retries, row.cost.cpu_micros, row.cost.server_cpu);
}

std::string ShopJsonOf(const bench::ShopCatalogueRow& row) {
  return fmt::format("{{\"page\":\"{}\",\"products\":{},\"productsBefore\":{},\"count\":{},\"latencyMs\":{}}}",
                     NameOf(row.page), row.products, row.depth, row.nanos.count(), LatencyJson(row.nanos));
}

template <typename Row>
std::string ShopJsonOf(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const Row& row : rows) text += StrCat(text.size() == 1 ? "" : ",", ShopJsonOf(row));
  return text + "]";
}

// Prints each row to `out`, with the header of its table before the first.
bench::ShopObserver ShopTables(std::FILE* out) {
  return {.on_mix = ShopTable<bench::ShopMixRow>(out, kMixHeader),
          .on_sale = ShopTable<bench::ShopSaleRow>(out, kSaleHeader),
          .on_catalogue = ShopTable<bench::ShopCatalogueRow>(out, kCatalogueHeader)};
}

// One object; docs/benchmarks.md has its fields.
std::string ShopJson(const bench::ShopBenchOptions& options, const bench::ShopReport& report) {
  return fmt::format(
      "{{\"benchmark\":\"shop\",\"products\":{},\"users\":{},\"stock\":{},\"seed\":{},\"mixes\":{},\"sales\":{},"
      "\"catalogue\":{}}}",
      options.products, options.users, options.stock, options.seed, ShopJsonOf(report.mixes), ShopJsonOf(report.sales),
      ShopJsonOf(report.catalogue));
}

struct BenchShopArgs {
  std::string store = "./data";
  std::string mix;
  bool json = false;
  std::vector<std::string> parts = {"mix", "sale", "catalogue"};
  bench::ShopBenchOptions options;
};

void AddShopSizes(CLI::App& app, bench::ShopBenchOptions& options) {
  app.add_option("--products", options.products, "Products of the mix.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--users", options.users, "Users of the mix; each belongs to one thread.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--stock", options.stock, "Units of each product of the mix.")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sale-units", options.sale_units, "Units of the one product of the flash sale.")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sale-buyers", options.sale_buyers, "Buyers in the flash sale; each wants one unit.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--catalogue-sizes", options.catalogue_sizes,
                 "Sizes of the catalogue in products; one reading for each.")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("LIST")
      ->capture_default_str();
}

void AddBenchShopOptions(CLI::App& app, BenchShopArgs& args) {
  bench::ShopBenchOptions& options = args.options;
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", options.database, "Database. It is dropped before and after each run.")
      ->type_name("NAME")
      ->capture_default_str();
  AddShopSizes(app, options);
  app.add_option("--threads", options.threads,
                 "Threads with a connection each; the mix is run for each of the list, the sale with the most.")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long the mix runs, and at most each reading of the catalogue.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--mix", args.mix,
                 "Weights of the operations; those left out do not occur. By default "
                 "browse=40,card=25,cart=20,merge=3,checkout=7,history=5.")
      ->type_name("NAME=N,…");
  app.add_option("--parts", args.parts, "What is measured.")
      ->delimiter(',')
      ->check(CLI::IsMember(args.parts))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed makes the same shoppers.")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output; the tables go to standard error.");
}

Status RunBenchShop(BenchShopArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  bench::ShopBenchOptions& options = args.options;
  options.stop = &stop;
  const auto wanted = [&](const char* part) { return std::ranges::find(args.parts, part) != args.parts.end(); };
  options.run_mix = wanted("mix");
  options.run_sale = wanted("sale");
  options.run_catalogue = wanted("catalogue");
  if (!args.mix.empty()) {
    BRAID_TRY(options.mix, bench::ParseShopMix(args.mix));
  }
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  FILE* people = args.json ? stderr : stdout;
  BRAID_TRY(const bench::ShopReport report, RunShop(*clients, options, ShopTables(people)));
  std::fputs(
      "Verified after each run of the service: no stock is negative, and sold and remaining units add up to the "
      "stock.\n",
      people);
  if (args.json) std::printf("%s\n", ShopJson(options, report).c_str());
  return stop.load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

}  // namespace

Action SetUpBenchShop(CLI::App& app) {
  const auto args = std::make_shared<BenchShopArgs>();
  AddBenchShopOptions(app, *args);
  return [args] { return RunBenchShop(*args); };
}

}  // namespace braid::cli
