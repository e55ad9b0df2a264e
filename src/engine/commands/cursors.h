// Cursors: results that are fetched in several batches. A cursor keeps its snapshot, belongs to its session, and dies
// when idle.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory_budget.h"
#include "base/mutex.h"
#include "base/random.h"
#include "braid/clock.h"
#include "engine/exec/plan/plan.h"

namespace braid::commands {

constexpr int64_t kCursorTimeoutMillis = 10 * 60 * 1000;
/// The same for a cursor whose client has closed the connection of the last batch: it is probably gone, and the cursor
/// keeps memory, and a snapshot for which every version of every document that was there stays in the store.
constexpr int64_t kClosedCursorTimeoutMillis = 10 * 1000;
constexpr size_t kCursorBytes = 5 * 1024;  // of one that scans a collection, measured
constexpr std::chrono::steady_clock::duration kNoTimeLimit = std::chrono::steady_clock::duration::max();

/// One open result. Used by one request at a time.
struct OpenCursor {
  int64_t id = 0;
  catalog::Namespace ns;
  std::string ns_shown;       // "db.$cmd.listCollections" and the like
  std::string lsid;           // empty: none
  int64_t txn_number = -1;    // of the transaction it belongs to, whose snapshot it reads; -1: none
  int64_t connection = -1;    // the connection that it ends with; -1: it outlives its connection
  int64_t used_by = -1;       // the connection that its last batch went to
  int64_t closed_millis = 0;  // when that connection was closed; 0: it is open
  std::string command;        // that made it, for messages
  storage::Snapshot snapshot;
  std::unique_ptr<query::Stream> stream;  // after `snapshot`: goes first
  std::unique_ptr<bson::Document> held;   // a document that did not fit into the last batch
  MemoryCharge held_charge{MemoryHolder::kCursors};
  MemoryCharge list_charge{MemoryHolder::kCursors};  // of a list that was made at once (ListReply)
  bool no_timeout = false;
  int64_t remaining = -1;  // documents until the limit; -1: no limit
  int64_t last_use_millis = 0;
  std::chrono::steady_clock::duration time_left = kNoTimeLimit;  // of maxTimeMS, which counts over all batches
};

/// Any thread.
class Cursors {
 public:
  /// Each open cursor is charged to `memory` with kCursorBytes, beside what its stream holds; null: no limit.
  explicit Cursors(const Clock& clock, MemoryBudget* memory = nullptr)
      : clock_(clock), memory_(memory), random_(RandomSeed()) {}

  /// kExceededMemoryLimit if there is no memory for one more.
  Status CheckRoom();
  /// Registers the cursor and returns its new id.
  int64_t Add(std::unique_ptr<OpenCursor> cursor);
  /// Checks the cursor out for one getMore; kCursorNotFound (43), or kCursorInUse (12051) if another request uses it.
  Result<std::unique_ptr<OpenCursor>> Take(int64_t id);
  void Return(std::unique_ptr<OpenCursor> cursor);
  /// The cursor was exhausted or failed while checked out.
  void Forget(int64_t id);

  enum class KillOutcome { kKilled, kNotFound };
  KillOutcome Kill(int64_t id, const catalog::Namespace& ns);
  void KillSession(std::string_view lsid);
  /// Those that end with their connection.
  void KillConnection(int64_t connection);
  /// The connection is closed: what it used last has less time until another connection asks for it.
  void NoteClosed(int64_t connection);
  void KillTransaction(std::string_view lsid, int64_t txn_number);
  /// Ends the cursors on a collection or (empty collection) a database that is being dropped.
  void KillNamespace(const catalog::Namespace& ns);
  void KillAll();
  /// Ends those that were idle for longer than their timeout, and returns how many.
  size_t Expire();

  struct Figures {
    size_t open = 0;
    size_t no_timeout = 0;
    uint64_t timed_out = 0;
  };
  Figures figures() const;
  void ForEach(const std::function<void(const OpenCursor&)>& visit_idle) const;

 private:
  struct Slot {
    std::unique_ptr<OpenCursor> idle;  // null while checked out
    catalog::Namespace ns;
    std::string lsid;
    int64_t txn_number = -1;
    int64_t connection = -1;
    bool killed = false;  // while checked out: dropped on return
  };
  void KillIf(const std::function<bool(const Slot&)>& condition) BRAID_EXCLUDES(mu_);
  Status Charge(size_t count) BRAID_REQUIRES(mu_) { return charge_.Set(memory_, count * kCursorBytes); }

  const Clock& clock_;
  MemoryBudget* const memory_;
  mutable Mutex mu_;
  Random random_ BRAID_GUARDED_BY(mu_);
  std::unordered_map<int64_t, Slot> slots_ BRAID_GUARDED_BY(mu_);
  uint64_t timed_out_ BRAID_GUARDED_BY(mu_) = 0;
  MemoryCharge charge_ BRAID_GUARDED_BY(mu_){MemoryHolder::kCursors};
};

}  // namespace braid::commands
