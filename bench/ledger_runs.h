// The single runs that the ledger is made of.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bench/histogram.h"
#include "bench/ledger.h"

namespace braid::bench {

/// Appends records to the chains of options.database, which must be empty, until they or the time end; fills the row
/// in, and verifies. The row says the writers, the batch and the spread.
Status AppendToChains(Clients& clients, const LedgerOptions& options, const std::vector<ChainRecord>& records,
                      LedgerRow& row);

/// The same bytes in the same batches, synced, with as many threads as the row has writers.
Status AppendToBare(const LedgerOptions& options, const std::vector<ChainRecord>& records, LedgerRow& row);

/// Hashing of the records' bytes.
Result<std::vector<LedgerReadRow>> MeasureHashing(const LedgerOptions& options, Spread spread,
                                                  std::span<const ChainRecord> records,
                                                  std::span<const uint32_t> threads);

/// Readings of the log in options.database, which has `records`.
Result<std::vector<LedgerReadRow>> MeasureReading(Clients& clients, const LedgerOptions& options, Spread spread,
                                                  std::span<const ChainRecord> records,
                                                  std::span<const uint32_t> threads);

/// Verification and replay of the log in options.database, which must be empty, while it is written.
Result<std::vector<LedgerRecoveryRow>> MeasureRecovery(Clients& clients, const LedgerOptions& options);

/// Engines with the service in options.database, which must be empty. The row says how many, and how.
Status MeasureEngines(Clients& clients, const LedgerOptions& options, LedgerEngineRow& row);

Status DropDatabase(Clients& clients, const std::string& database);
/// User and system time of this process.
int64_t OwnCpuMicros();
/// The same of the server; nothing if the store is in this process or does not say.
Result<std::optional<int64_t>> ServerCpuMicros(Clients& clients);

template <typename Row>
void SetLatencies(const Histogram& micros, Row& row) {
  row.p50_ms = static_cast<double>(micros.Quantile(0.5)) / 1e3;
  row.p99_ms = static_cast<double>(micros.Quantile(0.99)) / 1e3;
  row.p999_ms = static_cast<double>(micros.Quantile(0.999)) / 1e3;
}

}  // namespace braid::bench
