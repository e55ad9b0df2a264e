#include "bench/explorer.h"

#include <algorithm>

#include "base/strings.h"
#include "bench/explorer_runs.h"
#include "bench/ledger_runs.h"

namespace braid::bench {
namespace {

/// All runs, one after another.
class ExplorerBench {
 public:
  ExplorerBench(Clients& clients, const ExplorerBenchOptions& options, const ExplorerObserver& observer)
      : clients_(clients), options_(options), observer_(observer), chain_(options) {}

  Result<ExplorerReport> Run() {
    const Status status = RunAll();
    const Status dropped = DropDatabase(clients_, options_.database);
    BRAID_CHECK_OK(status);
    BRAID_CHECK_OK(dropped);
    return std::move(report_);
  }

 private:
  Status RunAll() {
    if (options_.run_import) BRAID_CHECK_OK(ImportAlone(0));
    if (options_.run_import && options_.readers > 0) BRAID_CHECK_OK(ImportAlone(options_.readers));
    return options_.run_queries || options_.run_pops ? GrowingChain() : Status();
  }

  // On a new index.
  Status ImportAlone(int readers) {
    if (options_.stop->load()) return {};
    BRAID_TRY(explorer_, RenewExplorer(clients_, options_));
    return Import(0, chain_.EpochsFor(options_.import_transactions), readers);
  }

  // The chain grows from one size to the next.
  Status GrowingChain() {
    std::vector<uint64_t> sizes = options_.sizes;
    std::ranges::sort(sizes);
    BRAID_TRY(explorer_, RenewExplorer(clients_, options_));
    uint64_t stored = 0;
    for (const uint64_t size : sizes) {
      const uint64_t epochs = chain_.EpochsFor(size);
      if (epochs == stored) continue;
      BRAID_CHECK_OK(Import(stored, epochs, 0));
      stored = epochs;
      if (options_.run_queries && !options_.stop->load()) BRAID_CHECK_OK(Queries(epochs));
      if (options_.run_pops && !options_.stop->load()) BRAID_CHECK_OK(Pops(epochs));
    }
    return {};
  }

  Status Import(uint64_t from, uint64_t to, int readers) {
    ExplorerImportRow row{.readers = readers};
    BRAID_CHECK_OK(MeasureImport(clients_, *explorer_, chain_, {from, to}, row));
    observer_.on_import(report_.imports.emplace_back(std::move(row)));
    return Verify(to);
  }

  Status Queries(uint64_t epochs) {
    BRAID_TRY(std::vector<ExplorerQueryRow> rows, MeasureQueries(*explorer_, chain_, epochs));
    for (ExplorerQueryRow& row : rows) {
      const auto same = [&](const ExplorerQueryRow& other) { return other.query == row.query; };
      const auto smallest = std::ranges::find_if(report_.queries, same);
      if (smallest != report_.queries.end() && smallest->nanos.count() > 0) {
        row.growth =
            static_cast<double>(row.nanos.Quantile(0.99)) / static_cast<double>(smallest->nanos.Quantile(0.99));
      }
      observer_.on_query(report_.queries.emplace_back(std::move(row)));
    }
    return {};
  }

  Status Pops(uint64_t epochs) {
    BRAID_TRY(ExplorerPopRow row, MeasurePops(*explorer_, chain_, epochs));
    observer_.on_pop(report_.pops.emplace_back(std::move(row)));
    return Verify(epochs);
  }

  Status Verify(uint64_t epochs) {
    if (options_.stop->load()) return {};
    BRAID_TRY(const ExplorerVerifyRow row, VerifyExplorer(*explorer_, chain_, epochs));
    observer_.on_verify(report_.verifications.emplace_back(row));
    return {};
  }

  Clients& clients_;
  const ExplorerBenchOptions& options_;
  const ExplorerObserver& observer_;
  const ExplorerChain chain_;
  std::unique_ptr<explorer::Explorer> explorer_;
  ExplorerReport report_;
};

constexpr const char* kExplorerQueryNames[] = {
    "block", "transaction", "block-transactions", "blocks",         "account", "miner", "latest",
    "pivot", "epoch",       "blocks, middle",     "account, middle"};
static_assert(std::size(kExplorerQueryNames) == kExplorerQueries);

constexpr std::pair<const char*, ExplorerReceipts> kExplorerReceipts[] = {
    {"none", ExplorerReceipts::kNone}, {"same", ExplorerReceipts::kSame}, {"late", ExplorerReceipts::kLate}};

}  // namespace

const char* NameOf(ExplorerQuery query) { return kExplorerQueryNames[static_cast<size_t>(query)]; }

Result<ExplorerReceipts> ParseExplorerReceipts(const std::string& text) {
  for (const auto& [name, receipts] : kExplorerReceipts) {
    if (text == name) return receipts;
  }
  return Status(Code::kBadValue, StrCat("--receipts ", text, ": write none, same or late"));
}

Result<ExplorerReport> RunExplorer(Clients& clients, const ExplorerBenchOptions& options,
                                   const ExplorerObserver& observer) {
  return ExplorerBench(clients, options, observer).Run();
}

}  // namespace braid::bench
