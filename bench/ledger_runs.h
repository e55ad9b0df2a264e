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

Status DropDatabase(Clients& clients, const std::string& database);
void SetLatencies(const Histogram& micros, LedgerRow& row);
/// User and system time of this process.
int64_t OwnCpuMicros();

}  // namespace braid::bench
