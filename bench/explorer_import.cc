// Import: one thread reads lines, another stores the epochs, and readers may run queries meanwhile.
#include <algorithm>
#include <deque>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "bench/explorer_runs.h"
#include "bench/ledger_runs.h"
#include "bench/shop_runs.h"

namespace braid::bench {
namespace {

// Lines are made before the clock starts, in chunks of this many transactions.
constexpr uint64_t kTransactionsPerChunk = 50'000;
constexpr size_t kEpochsAhead = 64;

/// A bounded queue of epochs that are read but not stored yet.
class EpochsAhead {
 public:
  /// False if no one takes them any more.
  bool Push(explorer::Epoch epoch) {
    MutexLock lock(mutex_);
    changed_.Wait(lock, [&]() BRAID_REQUIRES(mutex_) { return closed_ || waiting_.size() < kEpochsAhead; });
    if (closed_) return false;
    waiting_.push_back(std::move(epoch));
    changed_.NotifyAll();
    return true;
  }
  /// Appends the waiting epochs to `epochs`; waits only if that is empty. False if there will be no more.
  bool Pop(std::vector<explorer::Epoch>& epochs) {
    MutexLock lock(mutex_);
    if (epochs.empty()) changed_.Wait(lock, [&]() BRAID_REQUIRES(mutex_) { return closed_ || !waiting_.empty(); });
    while (!waiting_.empty() && epochs.size() < kEpochsAhead) {
      epochs.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    changed_.NotifyAll();
    return !epochs.empty();
  }
  /// No more epochs come, or none are wanted.
  void Close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<explorer::Epoch> waiting_ BRAID_GUARDED_BY(mutex_);
  bool closed_ BRAID_GUARDED_BY(mutex_) = false;
};

// `taken` counts the epochs that readers may ask for.
Status TakeAll(explorer::Explorer& explorer, EpochsAhead& ahead, std::atomic<uint64_t>& taken) {
  std::vector<explorer::Epoch> epochs;
  while (ahead.Pop(epochs)) {
    BRAID_TRY(const explorer::Explorer::Taken done, explorer.Take(epochs));
    if (done.grown != done.taken) {
      return Status(Code::kInternalError, StrCat("of ", done.taken, " new epochs only ", done.grown, " were grown"));
    }
    epochs.erase(epochs.begin(), epochs.begin() + done.taken);
    taken += static_cast<uint64_t>(done.taken);
  }
  return {};
}

Status ImportLines(explorer::Explorer& explorer, const std::vector<std::string>& lines, std::atomic<uint64_t>& taken) {
  EpochsAhead ahead;
  Status parsed;
  std::thread parser([&] {
    for (const std::string& line : lines) {
      auto epoch = explorer::ParseEpoch(line);
      if (!epoch.ok()) parsed = epoch.error();
      if (!epoch.ok() || !ahead.Push(*std::move(epoch))) break;
    }
    ahead.Close();
  });
  const Status status = TakeAll(explorer, ahead, taken);
  ahead.Close();
  parser.join();
  BRAID_CHECK_OK(parsed);
  return status;
}

/// Threads that ask one query after another until they are stopped.
class ReadersBeside {
 public:
  ReadersBeside(explorer::Explorer& explorer, const ExplorerChain& chain, int readers,
                const std::atomic<uint64_t>& epochs)
      : statuses_(static_cast<size_t>(readers)), nanos_(static_cast<size_t>(readers)) {
    for (size_t i = 0; i < statuses_.size(); ++i) {
      threads_.emplace_back([this, &explorer, &chain, &epochs, i] {
        ExplorerReader reader(explorer, chain, chain.options().seed * 1000 + i);
        while (!stop_.load() && statuses_[i].ok()) {
          const auto query = static_cast<ExplorerQuery>(reader.random().Below(kExplorerQueries));
          const auto start = std::chrono::steady_clock::now();
          statuses_[i] = reader.Ask(query, epochs.load());
          const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
          nanos_[i].Record(static_cast<uint64_t>(took.count()));
        }
      });
    }
  }
  ~ReadersBeside() { End(); }
  Status Finish(Histogram& nanos) {
    End();
    for (const Histogram& one : nanos_) nanos.Merge(one);
    for (const Status& status : statuses_) BRAID_CHECK_OK(status);
    return {};
  }

 private:
  void End() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  std::atomic<bool> stop_ = false;
  std::vector<Status> statuses_;
  std::vector<Histogram> nanos_;
  std::vector<std::thread> threads_;
};

// One chunk of epochs; adds to the row.
Status MeasureChunk(Clients& clients, explorer::Explorer& explorer, const ExplorerChain& chain,
                    const std::vector<std::string>& lines, std::atomic<uint64_t>& taken, ExplorerImportRow& row) {
  ShopCost cost;
  BRAID_TRY(ShopMeter meter, ShopMeter::Start(clients));
  {
    // Before the first epoch there is nothing to ask for.
    ReadersBeside readers(explorer, chain, taken.load() > 0 ? row.readers : 0, taken);
    BRAID_CHECK_OK(ImportLines(explorer, lines, taken));
    BRAID_CHECK_OK(meter.Finish(lines.size(), cost));
    BRAID_CHECK_OK(readers.Finish(row.queries));
  }
  row.seconds += cost.seconds;
  row.cpu_micros += cost.cpu_micros * static_cast<double>(lines.size());  // per transaction in the end
  row.server_cpu = cost.server_cpu;
  row.epochs += lines.size();
  return {};
}

}  // namespace

Status MeasureImport(Clients& clients, explorer::Explorer& explorer, const ExplorerChain& chain,
                     std::pair<uint64_t, uint64_t> epochs, ExplorerImportRow& row) {
  const ExplorerBenchOptions& options = chain.options();
  row.stored = epochs.first * options.epoch_transactions;
  std::atomic<uint64_t> taken = epochs.first;
  const uint64_t chunk = std::max<uint64_t>(1, kTransactionsPerChunk / options.epoch_transactions);
  std::vector<std::string> lines;
  while (taken.load() < epochs.second && !options.stop->load()) {
    lines.clear();
    const uint64_t from = taken.load();
    // With readers the first epoch comes alone, so that there is something to ask for.
    const uint64_t to = from == 0 && row.readers > 0 ? 1 : std::min(from + chunk, epochs.second);
    for (uint64_t epoch = from; epoch < to; ++epoch) lines.push_back(chain.Line(epoch));
    BRAID_CHECK_OK(MeasureChunk(clients, explorer, chain, lines, taken, row));
  }
  row.blocks = row.epochs * options.epoch_blocks;
  row.transactions = row.epochs * options.epoch_transactions;
  if (row.transactions > 0) row.cpu_micros /= static_cast<double>(row.transactions);
  return {};
}

}  // namespace braid::bench
