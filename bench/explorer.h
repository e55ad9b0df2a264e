// The block explorer's index under load: import alone and beside readers, the ten queries on a growing chain, and pops.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "bench/histogram.h"
#include "braid/clients.h"

namespace braid::bench {

/// The queries of a reader. One call answers two of the ten queries: difficulty, and transactions with their rate.
enum class ExplorerQuery {
  kBlock,
  kTransaction,
  kBlockTransactions,
  kBlocks,
  kAccount,
  kMiner,
  kLatest,
  kPivots,
  kEpoch,
  kBlocksMiddle,   ///< a page from the middle of the chain, by cursor
  kAccountMiddle,  ///< a page from the middle of a long account, by cursor
};
constexpr size_t kExplorerQueries = 11;
const char* NameOf(ExplorerQuery query);

/// When the receipts of transactions arrive.
enum class ExplorerReceipts {
  kNone,
  kSame,  ///< with the epoch of their transactions
  kLate,  ///< five epochs later
};
/// "none", "same" or "late"; kBadValue otherwise.
Result<ExplorerReceipts> ParseExplorerReceipts(const std::string& text);

struct ExplorerBenchOptions {
  /// Dropped before and after each run.
  std::string database = "bench_explorer";
  /// What each epoch has.
  uint64_t epoch_transactions = 200;
  uint64_t epoch_blocks = 4;
  ExplorerReceipts receipts = ExplorerReceipts::kSame;
  /// Transactions of the runs that measure import alone and beside readers.
  uint64_t import_transactions = 100'000;
  /// Threads that ask queries, one after another, beside the second import.
  int readers = 2;
  /// Transactions of the chain at which queries and pops are measured.
  std::vector<uint64_t> sizes = {10'000, 100'000, 1'000'000};
  /// How often each query is asked at each size, and how many epochs are popped.
  uint64_t queries = 3000;
  uint64_t pops = 500;
  uint64_t seed = 1;
  /// What is measured.
  bool run_import = true;
  bool run_queries = true;
  bool run_pops = true;
  const std::atomic<bool>* stop = nullptr;
};

/// Epochs that were read from their JSON lines and taken in.
struct ExplorerImportRow {
  uint64_t stored = 0;  ///< transactions before
  int readers = 0;
  uint64_t epochs = 0;
  uint64_t blocks = 0;
  uint64_t transactions = 0;
  double seconds = 0;
  double cpu_micros = 0;    ///< per transaction: of this process, and of the server if it reports its usage
  bool server_cpu = false;  ///< cpu_micros includes the server's
  Histogram queries;        ///< nanoseconds of the readers' queries
  double rate() const { return seconds > 0 ? static_cast<double>(transactions) / seconds : 0; }
  double block_rate() const { return seconds > 0 ? static_cast<double>(blocks) / seconds : 0; }
  double query_rate() const { return seconds > 0 ? static_cast<double>(queries.count()) / seconds : 0; }
};

struct ExplorerQueryRow {
  ExplorerQuery query = ExplorerQuery::kBlock;
  uint64_t transactions = 0;  ///< of the chain
  Histogram nanos;
  double growth = 0;  ///< its p99 to the p99 at the smallest size; 0: this is the smallest
};

/// Single epochs popped and grown again.
struct ExplorerPopRow {
  uint64_t transactions = 0;  ///< of the chain
  uint64_t epoch_transactions = 0;
  Histogram pop_nanos;
  Histogram grow_nanos;
  double pop_rate() const { return pop_nanos.mean() > 0 ? 1e9 / pop_nanos.mean() : 0; }
  double grow_rate() const { return grow_nanos.mean() > 0 ? 1e9 / grow_nanos.mean() : 0; }
};

/// A recount of everything that is stored.
struct ExplorerVerifyRow {
  uint64_t transactions = 0;
  uint64_t documents = 0;
  double seconds = 0;
};

struct ExplorerReport {
  std::vector<ExplorerImportRow> imports;
  std::vector<ExplorerQueryRow> queries;
  std::vector<ExplorerPopRow> pops;
  std::vector<ExplorerVerifyRow> verifications;
};

/// Called with each row as soon as it is measured; none may be empty.
struct ExplorerObserver {
  std::function<void(const ExplorerImportRow&)> on_import;
  std::function<void(const ExplorerQueryRow&)> on_query;
  std::function<void(const ExplorerPopRow&)> on_pop;
  std::function<void(const ExplorerVerifyRow&)> on_verify;
};

/// Durable. After each import and each round of pops everything is recounted: a wrong list, sum or number of
/// transactions is an error, and so is an incomplete answer.
Result<ExplorerReport> RunExplorer(Clients& clients, const ExplorerBenchOptions& options,
                                   const ExplorerObserver& observer);

}  // namespace braid::bench
