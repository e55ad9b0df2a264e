// The progress of a sync: figures, the rate over the last seconds, and the document that other processes read.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "braid/clients.h"
#include "client/handles.h"
#include "services/explorer/explorer.h"

namespace braid::explorer::source {

inline constexpr char kSyncStatus[] = "sync_status";

struct SyncFigures {
  std::string node;   // its address, without user and password
  std::string state;  // "catching up", "following", "waiting", "ended" or "failed"
  std::string error;  // why it failed, or what it waits for; else empty
  At tip;
  int64_t node_epoch = -1;  // the node's newest
  int64_t grown = 0;        // epochs; this and the next since the sync began
  int64_t popped = 0;
  int64_t switches = 0;
  int64_t deepest = 0;  // switch
  int64_t transactions = 0;
  int64_t retries = 0;       // requests that had to be made again
  int64_t inconsistent = 0;  // number of contradictory answers
  double epochs_per_second = 0;
  double transactions_per_second = 0;
  int64_t updated_ms = 0;  // since 1970

  int64_t lag() const { return node_epoch < 0 ? 0 : std::max<int64_t>(0, node_epoch - tip.epoch); }
  /// Seconds until the tip is reached at this rate; nothing if it cannot be said.
  std::optional<int64_t> seconds_left() const;
};

/// Figures and, from how they change, rates. Not thread-safe.
class SyncMeter {
 public:
  SyncFigures figures;
  /// Computes the rates over the last ten seconds.
  void Measure(std::chrono::steady_clock::time_point now);

 private:
  struct Sample {
    std::chrono::steady_clock::time_point time;
    int64_t epochs;
    int64_t transactions;
  };
  std::deque<Sample> samples_;
};

/// "epoch 120 of 500, 80.0 epochs/s, 900 transactions/s, 5 s left"
std::string DescribeSync(const SyncFigures& figures);
/// The fields that `sync --json`, `status --json` and the document have in common.
void AppendSyncFigures(const SyncFigures& figures, client::Bson& document);

/// The tip, and how far and how fast the last sync was, `age` seconds ago; nulls if none has run. As `status --json`.
void AppendStatus(const At& tip, const std::optional<SyncFigures>& sync, double age, client::Bson& document);

/// Writes the one document of the collection sync_status; what was there is replaced.
Status StoreSyncFigures(Clients& clients, const std::string& database, const SyncFigures& figures);
/// Nothing if no sync has ever run.
Result<std::optional<SyncFigures>> LoadSyncFigures(Clients& clients, const std::string& database);

}  // namespace braid::explorer::source
