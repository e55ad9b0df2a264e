// Context: the state of one request from commands/ down to storage/: snapshot, write set, locks, deadline, session.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "base/spill.h"
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
  Workers* workers = nullptr;      // null: every request does everything on its own thread
  MemoryBudget* memory = nullptr;  // null: no limit
  SpillSpace* spill = nullptr;     // null: everything stays in memory
};

/// One request, or the requests of one transaction, one thread at a time. Reads go through the write set to the
/// snapshot (or to the newest state if there is none). Invariants: (1) a document or unique key is locked before it is
/// read for a change; (2) locks are held until Commit or Abort; (3) nothing is visible to others before Commit,
/// everything at once with it.
class Context {
 public:
  enum class Kind { kStatement, kTransaction };
  /// A transaction may not change documents that were changed since its snapshot (LockTable).
  Context(Shared& shared, Operation& operation, Kind kind = Kind::kStatement);
  ~Context();  ///< aborts what was not committed
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Shared& shared() { return shared_; }
  Operation& operation() { return *operation_; }
  Status Check() { return operation_->Check(); }
  /// Hands the context to the next request of a transaction.
  void Enter(Operation& operation);
  int64_t now_millis() const { return now_millis_; }  ///< fixed for the request: $$NOW, TTL visibility

  /// Fixes the read view from here on, unless it is fixed already; a statement that only reads takes one at its start.
  void FixSnapshot();
  /// Continues with a read view that was handed over before.
  void UseSnapshot(storage::Snapshot snapshot) { snapshot_ = std::move(snapshot); }
  const storage::Snapshot& snapshot() const { return snapshot_; }
  /// Hands the read view over to a cursor that lives on.
  storage::Snapshot TakeSnapshot() { return std::move(snapshot_); }

  storage::WriteSet& writes() { return writes_; }
  /// Call before the write set grows: kExceededMemoryLimit if the server has no memory left for it.
  Status ChargeWrites(size_t more) { return writes_charge_.Set(shared_.memory, writes_.bytes() + more); }
  Result<bool> Get(std::string_view key, storage::Buffer* out) const;
  /// `spare`: of this context and no longer needed, to be used again; may be null.
  std::unique_ptr<storage::Cursor> NewCursor(storage::Range range,
                                             std::unique_ptr<storage::Cursor> spare = nullptr) const;

  bool is_transaction() const { return kind_ == Kind::kTransaction; }

  /// kWriteConflict at once if another owner has it, or has changed it since a transaction's snapshot (LockTable).
  Status Lock(std::string_view key);
  /// For a statement that has released everything after a kWriteConflict: waits until it holds the key that it could
  /// not lock.
  Status WaitForConflict();

  // Of a transaction: collections that it made and no other request sees yet, and those that it wrote to.
  /// Null if it made none of that name.
  catalog::CollectionPtr FindDraft(const catalog::Namespace& ns) const;
  /// Adds a draft, or puts a changed one in its place.
  void KeepDraft(catalog::CollectionPtr draft);
  /// True if there is something to commit.
  bool changes_something() const { return !writes_.empty() || !drafts_.empty(); }
  /// kSnapshotUnavailable if the collection has got its name after the snapshot. Its documents of that moment were not
  /// to be found under the name, and whatever else the transaction has read may not fit them.
  Status CheckName(const catalog::Collection& collection) const;
  /// Notes that it is about to write there: the description must not have changed when it commits.
  Status NoteWriter(const catalog::CollectionPtr& collection);

  /// Per collection change of the figures, folded into the write set's counters at Commit.
  void CountDocument(const catalog::CollectionPtr& collection, storage::ShardNumber shard, int64_t documents,
                     int64_t bytes);

  /// Notes that the index has met arrays in these fields: planners see it at once, and it is committed with the write
  /// set. The key of the bits must be locked (records.cc).
  void NoteMultikey(std::shared_ptr<const catalog::Index> index, uint64_t bits);

  /// Commits the write set and releases the locks; on an error the write set is gone too. The latest position is kept
  /// for the reply (durable_at). A transaction whose collections have changed meanwhile is kWriteConflict.
  Status Commit();
  void Abort();
  /// Called at the end of a statement, or in the middle of a long one: commits, and releases the locks on documents
  /// that were only read. In a transaction both happen at its end.
  Status CommitStatement() { return is_transaction() ? Status() : Commit(); }
  void AbortStatement() {
    if (!is_transaction()) Abort();
  }
  /// Runs before every commit that is not empty, to add further changes to it (retryable writes).
  void BeforeCommit(std::function<void(storage::WriteSet&)> add) { before_commit_ = std::move(add); }
  storage::LogPosition position() const { return position_; }
  void NotePosition(storage::LogPosition position) { position_ = std::max(position_, position); }

 private:
  struct Delta {
    catalog::CollectionPtr collection;
    storage::ShardNumber shard;
    int64_t documents;
    int64_t bytes;
  };
  void CloseView();
  void ReleaseLocks(storage::LogPosition changed_at = 0);
  bool Holds(std::string_view key) const;  ///< looks through all of its locks
  void AddFigures();
  Status FinishCommit(Result<storage::LogPosition> position);
  Status CommitTransaction();
  Result<storage::LogPosition> CommitUnderGates();

  Shared& shared_;
  Operation* operation_;
  const Kind kind_;
  int64_t now_millis_;
  const LockOwner owner_;
  storage::Snapshot snapshot_;
  bool has_view_ = false;  // of a transaction: changes since its snapshot are remembered
  storage::WriteSet writes_;
  MemoryCharge writes_charge_{MemoryHolder::kTransactions};
  std::vector<uint64_t> locked_;
  uint64_t conflict_ = 0;  // the hash of the key that could not be locked last
  std::vector<Delta> deltas_;
  std::vector<std::pair<std::shared_ptr<const catalog::Index>, uint64_t>> multikey_;
  storage::LogPosition position_ = 0;
  std::function<void(storage::WriteSet&)> before_commit_;
  std::vector<catalog::CollectionPtr> drafts_;
  std::map<uint32_t, catalog::CollectionPtr> written_;  // by number
};

}  // namespace braid::txn
