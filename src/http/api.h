// Api: the services of one store, which the routes use. Each is opened on first use.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "braid/clients.h"
#include "http/live.h"
#include "http/live_sample.h"
#include "http/metrics.h"
#include "http/server.h"
#include "services/explorer/explorer.h"
#include "services/settlement/service.h"
#include "services/shop/shop.h"
#include "services/staking/ingestor.h"

namespace braid::http {

/// An object that is opened on the store, and reopened after a while, because other processes may have changed what it
/// read when it was opened. Any thread.
template <typename T>
class Opened {
 public:
  using Open = std::function<Result<std::unique_ptr<T>>()>;
  Opened(std::chrono::milliseconds lifetime, Open open) : lifetime_(lifetime), open_(std::move(open)) {}

  Result<std::shared_ptr<T>> Get() {
    const MutexLock lock(mu_);
    const auto now = std::chrono::steady_clock::now();
    if (value_ == nullptr || now - opened_at_ > lifetime_) {
      value_ = nullptr;
      BRAID_TRY(value_, open_());
      opened_at_ = now;
    }
    return value_;
  }

 private:
  const std::chrono::milliseconds lifetime_;
  const Open open_;
  Mutex mu_;
  std::shared_ptr<T> value_ BRAID_GUARDED_BY(mu_);
  std::chrono::steady_clock::time_point opened_at_ BRAID_GUARDED_BY(mu_);
};

/// Figures that are costly to count: they are recounted only after twenty times the duration of the last count, so that
/// counting takes a small part of the time however often they are asked for. Any thread.
template <typename T>
class CostlyFigures {
 public:
  explicit CostlyFigures(std::function<Result<T>()> count) : count_(std::move(count)) {}

  Result<T> Get() {
    using Time = std::chrono::steady_clock;
    const MutexLock lock(mu_);
    const auto now = Time::now();
    if (!value_ || now >= good_until_) {
      value_.reset();
      BRAID_TRY(value_, count_());
      good_until_ = Time::now() + 20 * (Time::now() - now);
    }
    return *value_;
  }

 private:
  const std::function<Result<T>()> count_;
  Mutex mu_;
  std::optional<T> value_ BRAID_GUARDED_BY(mu_);
  std::chrono::steady_clock::time_point good_until_ BRAID_GUARDED_BY(mu_);
};

/// The state of the settlement log's chains.
struct ChainFigures {
  int64_t chains = 0;
  int64_t records = 0;
  int64_t halted = 0;
};

/// Any thread. Every use must have ended before the end of the object.
class Api {
 public:
  /// Rates the shard keys of a collection, as JSON. The program gives it: it reads documents as the engine does.
  using Advise = std::function<Result<std::string>(const std::string& database, const std::string& collection,
                                                   int64_t shards, const std::atomic<bool>& stop)>;
  /// `connections` gives the figures of the server.
  Api(Clients& clients, std::function<Server::Figures()> connections, Advise advise);
  ~Api();

  Clients& clients() { return clients_; }
  HttpMetrics& metrics() { return metrics_; }
  Server::Figures connections() const { return connections_(); }
  Live& live() { return live_; }
  Result<std::string> AdviceOf(const std::string& database, const std::string& collection, int64_t shards) const {
    return advise_(database, collection, shards, stop_);
  }
  /// Ends requests that wait for the store; afterwards nothing can be used any more.
  void Stop() {
    stop_ = true;
    live_.Stop();
  }
  bool stopping() const { return stop_; }

  /// kNamespaceNotFound if the store has no statistics.
  Result<std::shared_ptr<staking::Tables>> StakingTables() { return staking_tables_.Get(); }
  /// Lines of events into the statistics, which are created if there are none.
  class Ingest;
  Result<std::unique_ptr<Ingest>> OpenIngest();

  /// kNamespaceNotFound if the store has no index of a chain.
  Result<std::shared_ptr<explorer::Explorer>> Explorer() { return explorer_.Get(); }

  /// The log, to read it; kNamespaceNotFound if the store has none.
  Result<std::shared_ptr<Chains>> SettlementLog() { return settlement_log_.Get(); }
  /// May be slightly old, because all heads are read for them.
  Result<ChainFigures> SettlementFigures() { return settlement_figures_.Get(); }
  /// To append to the log, which is created if there is none.
  Result<std::shared_ptr<settlement::Settlement>> Settlement() { return settlement_.Get(); }

  /// kNamespaceNotFound if the store has no shop, unless it may be created.
  Result<std::shared_ptr<shop::Shop>> Shop(bool create) { return create ? shop_.Get() : existing_shop_.Get(); }

 private:
  struct IdleIngestors;
  /// kNamespaceNotFound, with what to do about it.
  Status ExpectCollection(const std::string& database, const char* collection, std::string_view advice);

  Clients& clients_;
  const std::function<Server::Figures()> connections_;
  const Advise advise_;
  std::atomic<bool> stop_ = false;
  HttpMetrics metrics_;
  Opened<staking::Tables> staking_tables_;
  Opened<explorer::Explorer> explorer_;
  Opened<Chains> settlement_log_;
  CostlyFigures<ChainFigures> settlement_figures_;
  Opened<settlement::Settlement> settlement_;
  Opened<shop::Shop> shop_;
  Opened<shop::Shop> existing_shop_;
  const std::shared_ptr<IdleIngestors> idle_ingestors_;
  LiveSampler sampler_;
  Live live_;  // last: its thread uses the rest
};

/// One upload of events, which has an ingestor while it lasts. One thread at a time.
class Api::Ingest {
 public:
  struct Kept {
    uint64_t line = 0;
    std::string reason;
  };
  static constexpr size_t kKeptMax = 100;

  ~Ingest();
  Status Apply(std::span<const std::string_view> lines, std::span<const uint64_t> numbers);
  const staking::Outcome& outcome() const { return outcome_; }
  /// The first lines that were refused, and why.
  const std::vector<Kept>& kept() const { return kept_; }

 private:
  friend class Api;
  struct Slot;
  Ingest(std::shared_ptr<IdleIngestors> idle, std::unique_ptr<Slot> slot);
  const std::shared_ptr<IdleIngestors> idle_;
  std::unique_ptr<Slot> slot_;
  staking::Outcome outcome_;
  std::vector<Kept> kept_;
};

}  // namespace braid::http
