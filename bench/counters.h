// The counters of the staking statistics, kept in three ways, with the same events on the same store.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "braid/clients.h"

namespace braid::bench {

enum class CounterWay {
  kHot,    ///< one document per counter, one transaction per event
  kSeed,   ///< logical shards chosen at random, one transaction per event
  kBraid,  ///< owned logical shards, many events per transaction
};

struct CountersOptions {
  /// Its collections are dropped before and after each run.
  std::string database = "bench_counters";
  /// Events of a run.
  uint64_t events = 200'000;
  /// A run of single events ends after this time, because they are slow.
  double seconds_max = 10;
  /// Numbers of writers of single events, with one run for each.
  std::vector<int> writers = {1, 8, 32};
  /// Transactions side by side in Braid's way.
  int workers = 2;
  std::vector<int> duplicate_percents = {0, 10, 50};
  uint32_t shard_count = 10;
  uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;
};

struct CountersRow {
  CounterWay way = CounterWay::kHot;
  int writers = 0;
  int duplicate_percent = 0;
  uint64_t events = 0;
  uint64_t retries = 0;
  double seconds = 0;
  double cpu_micros = 0;    ///< per event: of this process, and of the server if it reports its usage
  bool server_cpu = false;  ///< cpu_micros has the server's too
  bool audited = false;     ///< the totals were what the delegations say
  double rate() const { return seconds > 0 ? static_cast<double>(events) / seconds : 0; }
};

const char* NameOf(CounterWay way);

/// Durable. After each run the totals are audited; a run whose totals are wrong is an error.
Result<std::vector<CountersRow>> RunCounters(Clients& clients, const CountersOptions& options,
                                             const std::function<void(const CountersRow&)>& on_row);

}  // namespace braid::bench
