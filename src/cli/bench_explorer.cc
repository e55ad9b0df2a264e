// braid bench explorer: import alone and beside readers, the ten queries on a growing chain, and pops.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "bench/explorer.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

using bench::Histogram;

double ExplorerMs(const Histogram& nanos, double quantile) {
  return static_cast<double>(nanos.Quantile(quantile)) / 1e6;
}

constexpr const char* kExplorerImportHeader =
    "\nimport     stored transactions   blocks  seconds  blocks/s transact./s cpu us/tr. readers queries/s   p50 ms   "
    "p99 ms\n"
    "------ ---------- ------------ -------- -------- --------- ----------- ---------- ------- --------- -------- "
    "--------\n";

std::string ExplorerTextOf(const bench::ExplorerImportRow& row) {
  std::string text = fmt::format("       {:>10} {:>12} {:>8} {:>8.2f} {:>9.0f} {:>11.0f} {:>9.1f}{} {:>7}", row.stored,
                                 row.transactions, row.blocks, row.seconds, row.block_rate(), row.rate(),
                                 row.cpu_micros, row.server_cpu ? "+" : " ", row.readers);
  if (row.readers > 0) {
    text += fmt::format(" {:>9.0f} {:>8.2f} {:>8.2f}", row.query_rate(), ExplorerMs(row.queries, 0.5),
                        ExplorerMs(row.queries, 0.99));
  }
  return text + "\n";
}

constexpr const char* kExplorerQueryHeader =
    "\nquery              transactions   asked   p50 ms   p99 ms p99 to smallest\n"
    "------------------ ------------ ------- -------- -------- ---------------\n";

std::string ExplorerTextOf(const bench::ExplorerQueryRow& row) {
  return fmt::format("{:<18} {:>12} {:>7} {:>8.3f} {:>8.3f} {:>15}\n", NameOf(row.query), row.transactions,
                     row.nanos.count(), ExplorerMs(row.nanos, 0.5), ExplorerMs(row.nanos, 0.99),
                     row.growth > 0 ? fmt::format("{:.2f}", row.growth) : "");
}

constexpr const char* kExplorerPopHeader =
    "\npops   transactions in an epoch popped    pops/s   p50 ms   p99 ms   max ms   grown/s   p50 ms   p99 ms\n"
    "------ ------------ ----------- ------ --------- -------- -------- -------- --------- -------- --------\n";

std::string ExplorerTextOf(const bench::ExplorerPopRow& row) {
  return fmt::format("       {:>12} {:>11} {:>6} {:>9.0f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.0f} {:>8.2f} {:>8.2f}\n",
                     row.transactions, row.epoch_transactions, row.pop_nanos.count(), row.pop_rate(),
                     ExplorerMs(row.pop_nanos, 0.5), ExplorerMs(row.pop_nanos, 0.99),
                     static_cast<double>(row.pop_nanos.max()) / 1e6, row.grow_rate(), ExplorerMs(row.grow_nanos, 0.5),
                     ExplorerMs(row.grow_nanos, 0.99));
}

std::string ExplorerTextOf(const bench::ExplorerVerifyRow& row) {
  return fmt::format("       verified: {} documents of {} transactions in {:.2f} s\n", row.documents, row.transactions,
                     row.seconds);
}

// Prints a row, and the header before it if the row before was of another table.
template <typename Row>
std::function<void(const Row&)> ExplorerTable(std::FILE* out, std::shared_ptr<const char*> last, const char* header) {
  return [out, last = std::move(last), header](const Row& row) {
    if (header != nullptr && std::exchange(*last, header) != header) std::fputs(header, out);
    std::fputs(ExplorerTextOf(row).c_str(), out);
    std::fflush(out);
  };
}

std::string ExplorerLatencyJson(const Histogram& nanos) {
  return fmt::format("{{\"count\":{},\"p50\":{:.4f},\"p99\":{:.4f},\"max\":{:.4f}}}", nanos.count(),
                     ExplorerMs(nanos, 0.5), ExplorerMs(nanos, 0.99), static_cast<double>(nanos.max()) / 1e6);
}

std::string ExplorerJsonOf(const bench::ExplorerImportRow& row) {
  return fmt::format(
      "{{\"stored\":{},\"readers\":{},\"epochs\":{},\"blocks\":{},\"transactions\":{},\"seconds\":{:.3f},"
      "\"blocksPerSecond\":{:.1f},\"transactionsPerSecond\":{:.1f},\"cpuMicrosPerTransaction\":{:.2f},"
      "\"serverCpuIncluded\":{},\"queriesPerSecond\":{:.1f},\"queryLatencyMs\":{}}}",
      row.stored, row.readers, row.epochs, row.blocks, row.transactions, row.seconds, row.block_rate(), row.rate(),
      row.cpu_micros, row.server_cpu, row.query_rate(), ExplorerLatencyJson(row.queries));
}

std::string ExplorerJsonOf(const bench::ExplorerQueryRow& row) {
  return fmt::format("{{\"query\":\"{}\",\"transactions\":{},\"latencyMs\":{},\"p99ToSmallest\":{}}}",
                     NameOf(row.query), row.transactions, ExplorerLatencyJson(row.nanos),
                     row.growth > 0 ? fmt::format("{:.3f}", row.growth) : "null");
}

std::string ExplorerJsonOf(const bench::ExplorerPopRow& row) {
  return fmt::format(
      "{{\"transactions\":{},\"epochTransactions\":{},\"popsPerSecond\":{:.1f},\"popLatencyMs\":{},"
      "\"growsPerSecond\":{:.1f},\"growLatencyMs\":{}}}",
      row.transactions, row.epoch_transactions, row.pop_rate(), ExplorerLatencyJson(row.pop_nanos), row.grow_rate(),
      ExplorerLatencyJson(row.grow_nanos));
}

std::string ExplorerJsonOf(const bench::ExplorerVerifyRow& row) {
  return fmt::format("{{\"transactions\":{},\"documents\":{},\"seconds\":{:.3f}}}", row.transactions, row.documents,
                     row.seconds);
}

template <typename Row>
std::string ExplorerJsonOf(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const Row& row : rows) text += StrCat(text.size() == 1 ? "" : ",", ExplorerJsonOf(row));
  return text + "]";
}

// Prints each row to `out`, with the header of its table before the first of a group.
bench::ExplorerObserver ExplorerTables(std::FILE* out) {
  const auto last = std::make_shared<const char*>(nullptr);
  return {.on_import = ExplorerTable<bench::ExplorerImportRow>(out, last, kExplorerImportHeader),
          .on_query = ExplorerTable<bench::ExplorerQueryRow>(out, last, kExplorerQueryHeader),
          .on_pop = ExplorerTable<bench::ExplorerPopRow>(out, last, kExplorerPopHeader),
          .on_verify = ExplorerTable<bench::ExplorerVerifyRow>(out, last, nullptr)};
}

// One object; docs/benchmarks.md has its fields.
std::string ExplorerJson(const bench::ExplorerBenchOptions& options, const bench::ExplorerReport& report) {
  return fmt::format(
      "{{\"benchmark\":\"explorer\",\"epochTransactions\":{},\"epochBlocks\":{},\"seed\":{},\"imports\":{},"
      "\"queries\":{},\"pops\":{},\"verifications\":{}}}",
      options.epoch_transactions, options.epoch_blocks, options.seed, ExplorerJsonOf(report.imports),
      ExplorerJsonOf(report.queries), ExplorerJsonOf(report.pops), ExplorerJsonOf(report.verifications));
}

struct BenchExplorerArgs {
  std::string store = "./data";
  std::string receipts = "same";
  bool json = false;
  std::vector<std::string> parts = {"import", "queries", "pops"};
  bench::ExplorerBenchOptions options;
};

void AddExplorerSizes(CLI::App& app, bench::ExplorerBenchOptions& options) {
  app.add_option("--epoch-transactions", options.epoch_transactions, "Transactions of each epoch.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--epoch-blocks", options.epoch_blocks, "Blocks of each epoch.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--import-transactions", options.import_transactions,
                 "Transactions of the two imports, alone and beside readers.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--readers", options.readers, "Threads that run queries during the second import; 0: none.")
      ->check(CLI::Range(0, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "Transactions of the chain; queries and pops are measured at each.")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--queries", options.queries, "How often each query runs at each size.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--pops", options.pops, "Epochs popped, and grown again, at each size.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
}

void AddBenchExplorerOptions(CLI::App& app, BenchExplorerArgs& args) {
  bench::ExplorerBenchOptions& options = args.options;
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", options.database, "Database. It is dropped before and after each run.")
      ->type_name("NAME")
      ->capture_default_str();
  AddExplorerSizes(app, options);
  app.add_option(
         "--receipts", args.receipts,
         "When the receipts of transactions arrive: none, same (in the same epoch) or late (five epochs later).")
      ->check(CLI::IsMember({"none", "same", "late"}))
      ->type_name("WHEN")
      ->capture_default_str();
  app.add_option("--parts", args.parts, "What is measured.")
      ->delimiter(',')
      ->check(CLI::IsMember(args.parts))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed makes the same chain.")->type_name("N")->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output; the tables go to standard error.");
}

Status RunBenchExplorer(BenchExplorerArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  bench::ExplorerBenchOptions& options = args.options;
  options.stop = &stop;
  const auto wanted = [&](const char* part) { return std::ranges::find(args.parts, part) != args.parts.end(); };
  options.run_import = wanted("import");
  options.run_queries = wanted("queries");
  options.run_pops = wanted("pops");
  BRAID_TRY(options.receipts, bench::ParseExplorerReceipts(args.receipts));
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  FILE* people = args.json ? stderr : stdout;
  BRAID_TRY(const bench::ExplorerReport report, RunExplorer(*clients, options, ExplorerTables(people)));
  if (args.json) std::printf("%s\n", ExplorerJson(options, report).c_str());
  return stop.load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

}  // namespace

Action SetUpBenchExplorer(CLI::App& app) {
  const auto args = std::make_shared<BenchExplorerArgs>();
  AddBenchExplorerOptions(app, *args);
  return [args] { return RunBenchExplorer(*args); };
}

}  // namespace braid::cli
