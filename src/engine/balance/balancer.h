// Balancer: evens out the shards of every sharded collection in the background, and empties shards that are being
// removed.
#pragma once

#include <atomic>
#include <map>
#include <thread>

#include "base/gate.h"
#include "base/mutex.h"
#include "engine/balance/move.h"
#include "engine/balance/watch.h"

namespace braid::balance {

/// Runs on one thread, which looks every second, and on the threads that call Move. One move at a time. A move that a
/// kill interrupted is finished by the first round after the start.
class Balancer {
 public:
  explicit Balancer(txn::Shared& shared);
  ~Balancer();  ///< stops and joins; an unfinished move is finished after the next start
  Balancer(const Balancer&) = delete;
  Balancer& operator=(const Balancer&) = delete;

  /// moveChunk, moveRange, movePrimary: by the caller, after the moves that are under way or waited for; without a
  /// thread while it waits.
  Result<uint64_t> Move(txn::Context& context, const catalog::Namespace& ns, uint32_t number,
                        const KeyBoundsOfMove& range, storage::ShardNumber to);
  /// Wakes the thread at once, because a shard was added or the balancer was switched on.
  void Wake();
  /// One round over all collections; returns the number of documents moved. For the thread and for tests.
  Result<uint64_t> Round();

  /// config.settings: {_id: "balancer", mode: "off"} or {stopped: true} switch it off; {activeWindow: {start: "23:00",
  /// stop: "6:00"}} (UTC) limits it.
  Result<bool> enabled();
  bool in_round() const { return in_round_; }
  uint64_t rounds() const { return rounds_; }
  uint64_t documents_moved() const { return documents_moved_; }

 private:
  void Loop();
  Result<uint64_t> RoundWith(txn::Operation& operation);
  Status RoundOf(txn::Context& context, const catalog::CollectionPtr& collection, bool enabled, uint64_t* moved);
  Status Balance(txn::Context& context, const catalog::Namespace& ns, uint32_t number, uint64_t* moved);

  txn::Shared& shared_;
  Gate moving_;  // closed by the one move at a time
  Watch watch_;
  std::atomic<bool> in_round_{false};
  std::atomic<uint64_t> rounds_{0};
  std::atomic<uint64_t> documents_moved_{0};
  Mutex mu_;
  CondVar wake_;
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  bool woken_ BRAID_GUARDED_BY(mu_) = false;
  txn::Operation* running_ BRAID_GUARDED_BY(mu_) = nullptr;  // of the current round; killed to stop it
  std::thread thread_;
};

}  // namespace braid::balance
