// Context: what one request carries from commands/ down to storage/: snapshot, write set, locks, deadline, session.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/workers.h"
#include "engine/catalog/catalog.h"
#include "engine/storage/store.h"
#include "engine/txn/lock_table.h"
#include "engine/txn/operation.h"

namespace braid::txn {

/// The parts of a running engine that requests share.
struct Shared {
  storage::Store& store;
  catalog::Catalog& catalog;
  LockTable& locks;
  Operations& operations;
  const Clock& clock;
  Workers* workers = nullptr;  // null: every request does everything on its own thread
};

/// One request, one thread. Reads go through the write set to the snapshot (or to the newest state if there is none).
/// Invariants: (1) a document or unique key is locked before it is read for a change; (2) locks are held until Commit
/// or Abort; (3) nothing is visible to others before Commit, everything at once with it.
class Context {
 public:
  enum class Kind { kStatement, kTransaction };
  /// A transaction may not change what was changed since its snapshot (records.cc).
  Context(Shared& shared, Operation& operation, Kind kind = Kind::kStatement);
  ~Context();  ///< aborts what was not committed
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Shared& shared() { return shared_; }
  Operation& operation() { return operation_; }
  Status Check() { return operation_.Check(); }
  int64_t now_millis() const { return now_millis_; }  ///< fixed for the request: $$NOW, TTL visibility

  /// Fixes the read view from here on, unless it is fixed already; a statement that only reads takes one at its start.
  void FixSnapshot();
  /// Goes on in a read view that was handed over before.
  void UseSnapshot(storage::Snapshot snapshot) { snapshot_ = std::move(snapshot); }
  const storage::Snapshot& snapshot() const { return snapshot_; }
  /// Hands the read view over to a cursor that lives on.
  storage::Snapshot TakeSnapshot() { return std::move(snapshot_); }

  storage::WriteSet& writes() { return writes_; }
  Result<bool> Get(std::string_view key, storage::Buffer* out) const;
  std::unique_ptr<storage::Cursor> NewCursor(storage::Range range) const;

  bool is_transaction() const { return kind_ == Kind::kTransaction; }

  /// kWriteConflict at once if somebody else has it (LockTable).
  Status Lock(std::string_view key);

  /// Per collection change of the figures, folded into the write set's counters at Commit.
  void CountDocument(const catalog::CollectionPtr& collection, storage::ShardNumber shard, int64_t documents,
                     int64_t bytes);

  /// The index has met arrays in these fields: known to planners at once, committed with the write set. The key of the
  /// bits must be locked (records.cc).
  void NoteMultikey(std::shared_ptr<const catalog::Index> index, uint64_t bits);

  /// Commits the write set and releases the locks; on an error the write set is gone too. The latest position is kept
  /// for the reply (durable_at).
  Status Commit();
  void Abort();
  storage::LogPosition position() const { return position_; }
  void NotePosition(storage::LogPosition position) { position_ = std::max(position_, position); }

 private:
  struct Delta {
    catalog::CollectionPtr collection;
    storage::ShardNumber shard;
    int64_t documents;
    int64_t bytes;
  };
  void ReleaseLocks();

  Shared& shared_;
  Operation& operation_;
  const Kind kind_;
  const int64_t now_millis_;
  const LockOwner owner_;
  storage::Snapshot snapshot_;
  storage::WriteSet writes_;
  std::vector<uint64_t> locked_;
  std::vector<Delta> deltas_;
  std::vector<std::pair<std::shared_ptr<const catalog::Index>, uint64_t>> multikey_;
  storage::LogPosition position_ = 0;
};

}  // namespace braid::txn
