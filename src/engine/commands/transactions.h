// Transactions: the meaning of the sessions' transaction numbers: a retryable write or a transaction, whether it is
// open, and how it ended. Kept over a restart as far as a client may ask again (keys.h 't').
// RetryLog: which statements of a retryable write are done already (retry_notes.cc).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/commands/retry_notes.h"
#include "engine/txn/context.h"

namespace braid::commands {

/// The newest number of one session. Used by one request at a time.
struct NumberedWork {
  enum class State { kNone, kRetryable, kOpen, kCommitted, kAborted };
  int64_t number = -1;  // -1: none yet
  State state = State::kNone;
  RetryNotes done;                                 // kRetryable; otherwise what is still to be removed of it
  std::unique_ptr<txn::Context> context;           // kOpen
  bool wrote = false;                              // kOpen: a statement that writes was run
  std::chrono::steady_clock::time_point deadline;  // kOpen
  int64_t connection = 0;                          // kOpen: that sent the last statement
  /// kOpen: that connection is closed, and if no other one goes on by then, the transaction is aborted.
  std::chrono::steady_clock::time_point orphaned_at = std::chrono::steady_clock::time_point::max();
  storage::LogPosition committed_at = 0;  // kCommitted in this run of the server

  void Abort();
};

/// Any thread.
class Transactions {
 public:
  /// `lifetime`: how long a transaction may be open.
  Transactions(txn::Shared& shared, std::chrono::seconds lifetime) : shared_(shared), lifetime_(lifetime) {}

  /// A session's work, for one request.
  class Checkout {
   public:
    Checkout(Transactions& owner, std::string lsid, NumberedWork& work)
        : owner_(&owner), lsid_(std::move(lsid)), work_(&work) {}
    Checkout(Checkout&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), lsid_(std::move(other.lsid_)), work_(other.work_) {}
    Checkout& operator=(Checkout&&) = delete;
    ~Checkout();
    NumberedWork& operator*() const { return *work_; }
    NumberedWork* operator->() const { return work_; }
    const std::string& lsid() const { return lsid_; }

   private:
    Transactions* owner_;
    std::string lsid_;
    NumberedWork* work_;
  };
  /// Waits while another request of the same session uses it: a retry may come before the first attempt has ended.
  Result<Checkout> CheckOut(std::string_view lsid, txn::Operation& operation);

  /// Begins what the number stands for. kTransactionTooOld for a lower number than the newest;
  /// kConflictingOperationInProgress for one that was a transaction or cannot be one.
  Status BeginRetryable(Checkout& session, int64_t number);
  Status BeginTransaction(Checkout& session, int64_t number, txn::Operation& operation);
  /// The transaction is open: OK; else kNoSuchTransaction, kTransactionCommitted or kTransactionTooOld.
  static Status CheckOpen(const NumberedWork& work, int64_t number);

  /// Commits an open transaction; the note that it did is part of the commit. Again for one that is committed: OK.
  Status Commit(Checkout& session, int64_t number);
  Status Abort(Checkout& session, int64_t number);
  /// Called when a retryable write has failed: only its committed statements are done.
  void ForgetUncommitted(Checkout& session) const;

  /// Notes the connection that carried a statement of an open transaction.
  static void NoteStatement(NumberedWork& work, int64_t connection);
  /// The connection is closed: a transaction of the session whose last statement it carried is aborted unless another
  /// statement arrives within a second.
  void NoteClosed(std::string_view lsid, int64_t connection);
  /// Aborts the session's open transaction, now or when the request that uses it ends.
  void Kill(std::string_view lsid);
  /// Called when the session has ended: its numbers are forgotten.
  void Forget(const std::vector<std::string>& lsids);
  struct Name {
    std::string lsid;
    int64_t number;
  };
  /// Aborts transactions that have been open for too long, and returns their sessions; removes notes of sessions that
  /// have ended.
  std::vector<Name> Sweep();

  /// The record that a retryable write or a commit leaves in the store.
  static void Store(storage::WriteSet& writes, std::string_view lsid, NumberedWork& work, int64_t now_millis);

  /// An open transaction that waits for its next statement.
  struct Idle {
    std::string lsid;
    int64_t number;
    int64_t connection;  // that sent the last statement
    std::chrono::steady_clock::duration open_for;
  };
  std::vector<Idle> ListIdle() const;

  struct Figures {
    uint64_t open = 0;
    uint64_t started = 0;
    uint64_t committed = 0;
    uint64_t aborted = 0;
    uint64_t retried_statements = 0;
  };
  Figures figures() const;
  void CountRetried(uint64_t statements) { retried_ += statements; }

 private:
  struct Slot {
    NumberedWork work;
    bool busy = false;
    bool doomed = false;                   // is to be aborted once it is not busy
    bool loaded = false;                   // what the store knows was read
    std::vector<txn::Operation*> waiting;  // for a busy one, in order
  };
  void Return(const std::string& lsid);
  Status Load(std::string_view lsid, NumberedWork* work) const;
  Status LoadNotes(std::string_view lsid, NumberedWork& work) const;
  void AbortWork(NumberedWork& work);
  void RemoveOldNotes();

  txn::Shared& shared_;
  const std::chrono::seconds lifetime_;
  mutable Mutex mu_;
  std::unordered_map<std::string, std::unique_ptr<Slot>> slots_
      BRAID_GUARDED_BY(mu_);  // a busy one's work is its user's
  std::chrono::steady_clock::time_point notes_swept_ BRAID_GUARDED_BY(mu_);
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> committed_{0};
  std::atomic<uint64_t> aborted_{0};
  std::atomic<uint64_t> retried_{0};
};

/// The notes of one request with a txnNumber outside a transaction, which make its statements known to a retry. Results
/// are stored in the commit of their statement.
class RetryLog {
 public:
  RetryLog(Transactions::Checkout& session, txn::Context& context);

  /// The result of the statement's first run; null if it was not run.
  const bson::Document* Find(int32_t statement);
  /// Notes that the statement is done; must be called before the commit of its changes.
  void Note(int32_t statement, bson::Document result = {});

  /// retriedStmtIds: […] if there were any.
  void AppendTo(bson::Builder& reply) const;
  size_t retried() const { return retried_.size(); }

 private:
  Transactions::Checkout& session_;
  std::vector<int32_t> retried_;
};

}  // namespace braid::commands
