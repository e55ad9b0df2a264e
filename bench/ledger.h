// The ledger: how fast hash chains are written durably, one for everything and one per symbol, compared with bare
// RocksDB; how fast they are read and verified, compared with SHA-256, also while writers continue; and the rates that
// engines get through the settlement service.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/ledger_data.h"
#include "braid/clients.h"

namespace braid::bench {

struct LedgerOptions {
  /// Dropped before and after each run.
  std::string database = "bench_ledger";
  /// Records of a run, made before its clock starts: all are in memory.
  uint64_t records = 200'000;
  size_t record_bytes = 300;
  bool random_bytes = false;
  uint32_t symbols = 8;
  std::vector<uint32_t> writers = {1, 2, 4, 8};
  std::vector<uint32_t> batches = {1, 100, 500};
  /// Records submitted and not acknowledged; 0: two batches per writer.
  uint64_t in_flight = 0;
  /// A run of appends ends after this time, because with one sync per record they are slow. A reading is repeated for a
  /// second, but not for longer than this.
  double seconds_max = 5;
  /// The directory in which bare RocksDB gets one; empty leaves bare RocksDB out.
  std::string bare_parent;
  uint64_t seed = 1;
  /// What is measured: durable appends; readings of what they leave; recovery during load; engines that use the
  /// service.
  bool appends = true;
  bool reads = true;
  bool recovery = true;
  bool engines = true;
  /// Numbers of engines at the same time, each with its share of the symbols; one run for each number.
  std::vector<uint32_t> engine_counts = {1, 8};
  const std::atomic<bool>* stop = nullptr;

  uint32_t most_writers() const { return *std::max_element(writers.begin(), writers.end()); }
  uint32_t largest_batch() const { return *std::max_element(batches.begin(), batches.end()); }
  uint64_t in_flight_of(uint32_t writer_count, uint32_t batch) const {
    return in_flight > 0 ? in_flight : uint64_t{2} * writer_count * batch;
  }
};

/// A run of durable appends.
struct LedgerRow {
  std::optional<Spread> spread;  ///< none: bare RocksDB
  size_t chains = 0;
  uint32_t writers = 0;
  uint32_t batch = 0;
  uint64_t in_flight = 0;  ///< of bare RocksDB 0: its threads wait for each batch
  uint64_t records = 0;
  double seconds = 0;
  double p50_ms = 0;  ///< from Submit() to the acknowledgement; of bare RocksDB, of a batch
  double p99_ms = 0;
  double p999_ms = 0;
  double cpu_micros = 0;            ///< per record: of this process, and of the server if it reports its usage
  bool server_cpu = false;          ///< cpu_micros has the server's too
  double commit_records = 0;        ///< mean of a commit
  bool verified = false;            ///< all acknowledged records were there and verified; of bare RocksDB false
  std::optional<double> to_global;  ///< rate() by the one global chain's with the same batches
  std::optional<double> to_bare;    ///< rate() by bare RocksDB's with the same batches and writers
  double rate() const { return seconds > 0 ? static_cast<double>(records) / seconds : 0; }
};

enum class LedgerRead {
  kShaStream,   ///< SHA-256 of the payloads, one after another, as one text per thread
  kShaRecords,  ///< SHA-256 of each record, of the bytes that chains hash
  kScan,        ///< the log's documents through a cursor, not looked at
  kVerify,      ///< Chains::Verify()
  kMerge,       ///< Chains::Merge(): the log in the order of sequences
  kReplay,      ///< Views::Follow(): read, checked, and applied to balances, trades and orders
};

/// A reading of the whole log, or a hashing of the same bytes in memory.
struct LedgerReadRow {
  LedgerRead what = LedgerRead::kScan;
  Spread spread = Spread::kGlobal;  ///< of the records
  uint32_t threads = 1;
  int64_t records = 0;
  int64_t payload_bytes = 0;
  double seconds = 0;            ///< mean of the repetitions
  double cpu_micros = 0;         ///< per record, of this process: with an embedded store the whole cost of the reading
  std::optional<double> to_sha;  ///< speed by that of kShaRecords with the same threads
  std::optional<double> to_stream;  ///< the same by kShaStream
  double megabytes_per_second() const { return seconds > 0 ? static_cast<double>(payload_bytes) / 1e6 / seconds : 0; }
};

/// A recovery while writers append as fast as they can, and both alone; all in records per second.
struct LedgerRecoveryRow {
  LedgerRead what = LedgerRead::kVerify;
  int64_t records = 0;  ///< read during the load
  double seconds = 0;
  double rate = 0;
  double rate_alone = 0;
  double appends = 0;
  double appends_alone = 0;
  double to_alone() const { return rate_alone > 0 ? rate / rate_alone : 0; }
  double appends_to_alone() const { return appends_alone > 0 ? appends / appends_alone : 0; }
};

/// Outputs of engines through the settlement service, which reads and checks their JSON, to their acknowledgement.
struct LedgerEngineRow {
  bool tcp = false;  ///< over TCP on this machine, with one connection each; otherwise by calls
  uint32_t engines = 1;
  uint64_t in_flight = 0;  ///< of all together
  uint64_t outputs = 0;
  double seconds = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;
  double cpu_micros = 0;  ///< per output: of this process without the TCP engines themselves, and of the server
  bool server_cpu = false;
  std::optional<double> to_calls;  ///< rate() by that of the same engines without TCP
  double rate() const { return seconds > 0 ? static_cast<double>(outputs) / seconds : 0; }
};

struct LedgerReport {
  std::vector<LedgerRow> appends;
  std::vector<LedgerReadRow> reads;
  std::vector<LedgerRecoveryRow> recoveries;
  std::vector<LedgerEngineRow> engines;
};

/// Called with each row as soon as it is measured; none may be empty.
struct LedgerObserver {
  std::function<void(const LedgerRow&)> on_append;
  std::function<void(const LedgerReadRow&)> on_read;
  std::function<void(const LedgerRecoveryRow&)> on_recovery;
  std::function<void(const LedgerEngineRow&)> on_engines;
};

const char* NameOf(LedgerRead what);

/// Each run works in a fresh database. What it appended is verified; a run that was wrong is an error.
Result<LedgerReport> RunLedger(Clients& clients, const LedgerOptions& options, const LedgerObserver& observer);

}  // namespace braid::bench
