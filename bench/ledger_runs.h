// The single runs that the ledger is made of, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "bench/histogram.h"
#include "bench/ledger.h"

namespace braid::bench {

/// Limits how many records are in flight: lets `most` in at a time. Once full, it is closed until a quarter has left,
/// so that the waiting thread is not woken for each one. One thread enters, any thread leaves.
class Window {
 public:
  /// `most`: at least 1.
  explicit Window(uint64_t most) : most_(most), refill_(most - (most + 3) / 4) {}

  /// False if it is full: Enter() would wait.
  bool TryEnter() {
    const MutexLock lock(mu_);
    if (inside_ >= most_ && !open_) return false;
    ++inside_;
    return true;
  }
  void Enter() {
    MutexLock lock(mu_);
    if (inside_ >= most_) room_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return inside_ <= refill_ || open_; });
    ++inside_;
  }
  void Leave() {
    Leave([] {});
  }
  /// Calls `also` under the lock: what is noted there, AwaitEmpty() has seen.
  template <typename Also>
  void Leave(const Also& also) {
    // Notifies under the lock: the thread in AwaitEmpty() may destroy this object as soon as the lock is free.
    const MutexLock lock(mu_);
    also();
    --inside_;
    if (inside_ == refill_ || inside_ == 0) room_.NotifyAll();
  }
  /// Ends all waiting.
  void Open() {
    const MutexLock lock(mu_);
    open_ = true;
    room_.NotifyAll();
  }
  /// Returns when all have left.
  void AwaitEmpty() {
    MutexLock lock(mu_);
    room_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return inside_ == 0; });
  }

 private:
  const uint64_t most_;
  const uint64_t refill_;
  Mutex mu_;
  CondVar room_;
  uint64_t inside_ BRAID_GUARDED_BY(mu_) = 0;
  bool open_ BRAID_GUARDED_BY(mu_) = false;
};

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
