// Sync: the index follows a node: it catches up, then takes in what is new, and goes back to the fork point when the
// node has switched its pivot.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "base/mutex.h"
#include "services/explorer/explorer.h"
#include "services/explorer/source/node_source.h"
#include "services/explorer/source/sync_status.h"

namespace braid::explorer::source {

struct SyncOptions {
  /// Where an empty index begins. Default 0.
  int64_t first_epoch = 0;
  /// A switch that replaces more epochs is not followed. Default 200, from 1.
  int64_t depth_max = 200;
  /// Epochs that are fetched at the same time. Default 4, 1..64.
  size_t parallel = 4;
  /// How often the node is asked for news once everything is taken in. Default 500 ms.
  std::chrono::milliseconds poll{500};
  /// How long the node may contradict itself, or lack epochs that it announced, before the sync gives up. Default 60 s.
  std::chrono::milliseconds patience{60'000};
  /// Ends when this epoch is stored; nothing: never.
  std::optional<int64_t> until;
  /// Ends when everything that the node has is stored.
  bool once = false;
  /// Ends when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// Gets the figures now and then and at the end; may be null.
  std::function<void(const SyncFigures&)> on_figures;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// One thread, but for figures().
class Sync {
 public:
  Sync(Explorer& explorer, NodeSource& source, SyncOptions options)
      : explorer_(explorer), source_(source), options_(std::move(options)) {}

  /// Follows the node until one of the options ends it. All state is in the store: after a kill another Sync continues.
  /// kTimelineFork: the node's chain has nothing in common with the stored one, or not within depth_max; nothing was
  /// changed. kInterrupted: stop.
  Status Run();
  SyncFigures figures() const;

 private:
  struct Stored {
    At tip;
    std::map<int64_t, std::string> pivots;  // the newest ones
    bool whole = false;                     // all there are
  };
  Result<Stored> ReadStored(int64_t count);
  Result<bool> Round();
  Result<std::optional<int64_t>> NextEpoch(Stored& stored, int64_t newest);
  Result<int64_t> FindFork(Stored& stored, int64_t newest);
  Status CheckFits(const FetchedEpoch& fetched, const std::map<int64_t, std::string>& pivots, bool is_first);
  Status TakeFrom(int64_t first, int64_t newest, std::map<int64_t, std::string>& pivots);
  Status TakeBatch(std::vector<Epoch>& batch);
  Status Wait(std::chrono::milliseconds time);
  Status Endure(const Status& failure);
  bool IsDone(int64_t newest);
  void Note(const std::function<void(SyncFigures&)>& change);
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  Explorer& explorer_;
  NodeSource& source_;
  const SyncOptions options_;
  std::chrono::steady_clock::time_point failing_since_;
  bool failing_ = false;
  mutable Mutex mu_;
  SyncMeter meter_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::explorer::source
