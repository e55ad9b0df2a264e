#include "bench/ledger.h"

#include <thread>

#include "bench/ledger_runs.h"

namespace braid::bench {
namespace {

/// All runs, one after another.
class Ledger {
 public:
  Ledger(Clients& clients, const LedgerOptions& options, const LedgerObserver& observer)
      : clients_(clients), options_(options), observer_(observer) {}

  Result<LedgerReport> Run() {
    const Status status = RunAll();
    const Status dropped = DropDatabase(clients_, options_.database);
    BRAID_CHECK_OK(status);
    BRAID_CHECK_OK(dropped);
    return std::move(report_);
  }

 private:
  Status RunAll() {
    if (options_.appends) BRAID_CHECK_OK(Appends());
    // One chain, which only readers that share its segments read in parallel, and several.
    for (const Spread spread : {Spread::kGlobal, Spread::kReal}) {
      if (options_.reads) BRAID_CHECK_OK(Read(spread));
    }
    if (options_.recovery) BRAID_CHECK_OK(Recover());
    for (const uint32_t engines : options_.engine_counts) {
      for (const bool tcp : {false, true}) {
        if (options_.engines) BRAID_CHECK_OK(Engines(engines, tcp));
      }
    }
    return {};
  }

  Status Appends() {
    for (const uint32_t batch : options_.batches) {
      if (!options_.bare_parent.empty()) {
        for (const uint32_t writers : options_.writers) BRAID_CHECK_OK(Bare(writers, batch));
      }
      BRAID_CHECK_OK(Append(Spread::kGlobal, 1, batch));
      for (const Spread spread : {Spread::kEqual, Spread::kHot, Spread::kReal}) {
        for (const uint32_t writers : options_.writers) BRAID_CHECK_OK(Append(spread, writers, batch));
      }
    }
    return {};
  }

  const std::vector<ChainRecord>& RecordsOf(Spread spread) {
    if (records_.empty() || spread_ != spread) {
      records_ = MakeRecords({.spread = spread,
                              .symbols = options_.symbols,
                              .count = options_.records,
                              .bytes = options_.record_bytes,
                              .random_bytes = options_.random_bytes,
                              .seed = options_.seed});
      spread_ = spread;
    }
    return records_;
  }

  Status Bare(uint32_t writers, uint32_t batch) {
    if (options_.stop->load()) return {};
    LedgerRow row{.writers = writers, .batch = batch};
    BRAID_CHECK_OK(AppendToBare(options_, RecordsOf(Spread::kEqual), row));
    observer_.on_append(report_.appends.emplace_back(row));
    return {};
  }

  Status Append(Spread spread, uint32_t writers, uint32_t batch) {
    if (options_.stop->load()) return {};
    BRAID_CHECK_OK(DropDatabase(clients_, options_.database));
    LedgerRow row{.spread = spread, .writers = writers, .batch = batch};
    BRAID_CHECK_OK(AppendToChains(clients_, options_, RecordsOf(spread), row));
    row.to_bare = RatioTo(row, std::nullopt, writers);
    row.to_global = RatioTo(row, Spread::kGlobal, 1);
    observer_.on_append(report_.appends.emplace_back(row));
    return {};
  }

  std::optional<double> RatioTo(const LedgerRow& row, std::optional<Spread> spread, uint32_t writers) const {
    for (const LedgerRow& other : report_.appends) {
      const bool same = other.spread == spread && other.writers == writers && other.batch == row.batch;
      if (same && other.rate() > 0) return row.rate() / other.rate();
    }
    return std::nullopt;
  }

  Status Read(Spread spread) {
    if (options_.stop->load()) return {};
    BRAID_CHECK_OK(DropDatabase(clients_, options_.database));
    LedgerRow filled{.spread = spread, .writers = options_.most_writers(), .batch = options_.largest_batch()};
    const std::vector<ChainRecord>& all = RecordsOf(spread);
    BRAID_CHECK_OK(AppendToChains(clients_, options_, all, filled));
    const auto records = std::span(all).first(filled.records);
    std::vector<uint32_t> threads = {1};
    if (const uint32_t cores = std::thread::hardware_concurrency(); cores > 1) threads.push_back(cores);
    // Beside each reading, so that what else the machine does is as good as the same.
    BRAID_TRY(const std::vector<LedgerReadRow> hashing, MeasureHashing(options_, spread, records, threads));
    for (const LedgerReadRow& row : hashing) observer_.on_read(report_.reads.emplace_back(row));
    BRAID_TRY(std::vector<LedgerReadRow> rows, MeasureReading(clients_, options_, spread, records, threads));
    for (LedgerReadRow& row : rows) {
      row.to_sha = SpeedTo(row, LedgerRead::kShaRecords);
      row.to_stream = SpeedTo(row, LedgerRead::kShaStream);
      observer_.on_read(report_.reads.emplace_back(row));
    }
    return {};
  }

  std::optional<double> SpeedTo(const LedgerReadRow& row, LedgerRead what) const {
    for (const LedgerReadRow& other : report_.reads) {
      const bool same = other.what == what && other.spread == row.spread && other.threads == row.threads;
      if (same && row.seconds > 0) return other.seconds / row.seconds;
    }
    return std::nullopt;
  }

  Status Recover() {
    if (options_.stop->load()) return {};
    BRAID_CHECK_OK(DropDatabase(clients_, options_.database));
    const auto rows = MeasureRecovery(clients_, options_);
    if (!rows.ok()) return options_.stop->load() ? Status() : rows.error();
    for (const LedgerRecoveryRow& row : *rows) observer_.on_recovery(report_.recoveries.emplace_back(row));
    return {};
  }

  Status Engines(uint32_t engines, bool tcp) {
    if (options_.stop->load()) return {};
    BRAID_CHECK_OK(DropDatabase(clients_, options_.database));
    LedgerEngineRow row{.tcp = tcp, .engines = engines};
    BRAID_CHECK_OK(MeasureEngines(clients_, options_, row));
    for (const LedgerEngineRow& other : report_.engines) {
      if (tcp && !other.tcp && other.engines == engines && other.rate() > 0) row.to_calls = row.rate() / other.rate();
    }
    observer_.on_engines(report_.engines.emplace_back(row));
    return {};
  }

  Clients& clients_;
  const LedgerOptions& options_;
  const LedgerObserver& observer_;
  std::vector<ChainRecord> records_;  // of spread_
  Spread spread_ = Spread::kGlobal;
  LedgerReport report_;
};

}  // namespace

Result<LedgerReport> RunLedger(Clients& clients, const LedgerOptions& options, const LedgerObserver& observer) {
  return Ledger(clients, options, observer).Run();
}

}  // namespace braid::bench
