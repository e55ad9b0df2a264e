#include "engine/commands/transactions.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/commands/sessions.h"
#include "engine/storage/keys.h"

namespace braid::commands {
namespace {

using State = NumberedWork::State;
using bson::Type;
using bson::Value;

constexpr std::chrono::minutes kNotesSweptEvery{5};
constexpr std::chrono::seconds kOrphanLifetime{1};
constexpr size_t kNotesRemovedAtOnce = 1000;

Result<int64_t> NumberOf(bson::View record, std::string_view lsid) {
  const Value number = record.Find("number");
  if (!number.Is(Type::kInt64)) {
    return Status(Code::kStorageCorrupt, StrCat("the record of session ", Hex(lsid), " is damaged"));
  }
  return number.AsInt64();
}

}  // namespace

void NumberedWork::Abort() {
  context.reset();
  if (state == State::kOpen) state = State::kAborted;
}

Transactions::Checkout::~Checkout() {
  if (owner_ != nullptr) owner_->Return(lsid_);
}

Result<Transactions::Checkout> Transactions::CheckOut(std::string_view lsid, txn::Operation& operation) {
  std::string name(lsid);
  MutexLock lock(mu_);
  while (true) {
    std::unique_ptr<Slot>& slot = slots_[name];
    if (slot == nullptr) slot = std::make_unique<Slot>();
    if (!slot->busy) {
      BRAID_ASSERT(!slot->doomed);  // the last user has aborted it
      slot->busy = true;
      if (!slot->loaded) {
        slot->loaded = true;
        if (Status status = Load(lsid, &slot->work); !status.ok()) {
          slots_.erase(name);
          return status;
        }
      }
      if (slot->work.state == State::kOpen && shared_.clock.Now() >= slot->work.deadline) AbortWork(slot->work);
      return Checkout(*this, std::move(name), slot->work);
    }
    slot->waiting.push_back(&operation);
    lock.Unlock();
    const Status status = operation.Wait();
    lock.Lock();
    if (const auto at = slots_.find(name); at != slots_.end()) {
      std::vector<txn::Operation*>& waiting = at->second->waiting;
      std::erase(waiting, &operation);
      // The woken request gives up, so the next one must be woken.
      if (!status.ok() && !at->second->busy && !waiting.empty()) waiting.front()->Wake();
    }
    BRAID_CHECK_OK(status);
  }
}

void Transactions::Return(const std::string& lsid) {
  const MutexLock lock(mu_);
  Slot& slot = *slots_.at(lsid);
  BRAID_ASSERT(slot.busy);  // one request at a time has it, and gives it back once
  slot.busy = false;
  if (std::exchange(slot.doomed, false)) AbortWork(slot.work);
  if (!slot.waiting.empty()) slot.waiting.front()->Wake();
}

void Transactions::AbortWork(NumberedWork& work) {
  if (work.state == State::kOpen) ++aborted_;
  work.Abort();
}

Status Transactions::BeginRetryable(Checkout& session, int64_t number) {
  NumberedWork& work = *session;
  if (number < work.number) {
    return {Code::kTransactionTooOld, StrCat("Cannot start transaction ", number, " because a newer transaction ",
                                             work.number, " has already started")};
  }
  if (number == work.number) {
    if (work.state == State::kRetryable || work.state == State::kNone) return {};
    return {Code::kConflictingOperationInProgress,
            StrCat("transaction number ", number, " is that of a transaction, not of a retryable write")};
  }
  AbortWork(work);
  work.done.Forget(session.lsid(), work.number);
  work.number = number;
  work.state = State::kRetryable;
  return {};
}

Status Transactions::BeginTransaction(Checkout& session, int64_t number, txn::Operation& operation) {
  NumberedWork& work = *session;
  if (number < work.number) {
    return {Code::kTransactionTooOld, StrCat("Cannot start transaction ", number, " because a newer transaction ",
                                             work.number, " has already started")};
  }
  if (number == work.number) {
    return {Code::kConflictingOperationInProgress,
            StrCat("Cannot start a transaction at given transaction number ", number,
                   " as a transaction or a retryable write with the same number was started before")};
  }
  AbortWork(work);
  work.done.Forget(session.lsid(), work.number);
  work.number = number;
  work.state = State::kOpen;
  work.wrote = false;
  work.deadline = shared_.clock.Now() + lifetime_;
  work.orphaned_at = std::chrono::steady_clock::time_point::max();
  work.context = std::make_unique<txn::Context>(shared_, operation, txn::Context::Kind::kTransaction);
  work.context->FixSnapshot();
  ++started_;
  return {};
}

Status Transactions::CheckOpen(const NumberedWork& work, int64_t number) {
  if (number < work.number) {
    return {Code::kTransactionTooOld,
            StrCat("Given transaction number ", number, " is older than the session's newest, ", work.number)};
  }
  if (number > work.number || work.state == State::kAborted || work.state == State::kNone) {
    return {Code::kNoSuchTransaction, StrCat("Transaction ", number, " has been aborted or was never started")};
  }
  if (work.state == State::kCommitted) {
    return {Code::kTransactionCommitted, StrCat("Transaction ", number, " has been committed")};
  }
  if (work.state == State::kRetryable) {
    return {Code::kNoSuchTransaction, StrCat("Transaction number ", number, " is that of a retryable write")};
  }
  return {};
}

Status Transactions::Commit(Checkout& session, int64_t number) {
  NumberedWork& work = *session;
  if (number == work.number && work.state == State::kCommitted) return {};
  BRAID_CHECK_OK(CheckOpen(work, number));
  BRAID_ASSERT(work.context != nullptr && work.context->is_transaction());
  txn::Context& context = *work.context;
  // For a transaction without writes no note is needed that a second commit could ask for.
  if (context.changes_something()) {
    work.state = State::kCommitted;
    Store(context.writes(), session.lsid(), work, context.now_millis());
    work.state = State::kOpen;
  }
  const storage::LogPosition read_at = context.snapshot().position();
  const Status status = context.Commit();
  if (!status.ok()) {
    AbortWork(work);
    return status;
  }
  work.committed_at = std::max(context.position(), read_at);  // what it has read must survive a crash, too
  work.state = State::kCommitted;
  work.context.reset();
  ++committed_;
  return {};
}

Status Transactions::Abort(Checkout& session, int64_t number) {
  BRAID_CHECK_OK(CheckOpen(*session, number));
  AbortWork(*session);
  return {};
}

void Transactions::ForgetUncommitted(Checkout& session) const {
  const Status status = LoadNotes(session.lsid(), *session);
  status.Ignore("the store cannot be read; what is not known to be done is done again");
}

void Transactions::NoteStatement(NumberedWork& work, int64_t connection) {
  work.connection = connection;
  work.orphaned_at = std::chrono::steady_clock::time_point::max();
}

void Transactions::NoteClosed(std::string_view lsid, int64_t connection) {
  const MutexLock lock(mu_);
  const auto at = slots_.find(std::string(lsid));
  if (at == slots_.end() || at->second->busy || at->second->work.connection != connection) return;
  at->second->work.orphaned_at = shared_.clock.Now() + kOrphanLifetime;
}

void Transactions::Kill(std::string_view lsid) {
  const MutexLock lock(mu_);
  const auto at = slots_.find(std::string(lsid));
  if (at == slots_.end()) return;
  if (at->second->busy) {
    at->second->doomed = true;
  } else {
    AbortWork(at->second->work);
  }
}

void Transactions::Forget(const std::vector<std::string>& lsids) {
  storage::WriteSet writes(shared_.store);
  {
    const MutexLock lock(mu_);
    for (const std::string& lsid : lsids) {
      const auto at = slots_.find(lsid);
      if (at == slots_.end()) continue;
      if (at->second->busy) {
        at->second->doomed = true;
        continue;
      }
      NumberedWork& work = at->second->work;
      AbortWork(work);
      work.done.Forget(lsid, work.number);
      bson::Builder record;  // nothing is left for it
      work.done.Store(writes, lsid, work.number, record);
      if (work.number >= 0) writes.Delete(storage::SessionKey(lsid));
      for (txn::Operation* operation : at->second->waiting) operation->Wake();
      slots_.erase(at);
    }
  }
  if (writes.empty()) return;
  shared_.store.Commit(writes).status().Ignore("the notes of sessions that are over are removed by a later sweep too");
}

std::vector<Transactions::Idle> Transactions::ListIdle() const {
  std::vector<Idle> idle;
  const auto now = shared_.clock.Now();
  const MutexLock lock(mu_);
  for (const auto& [lsid, slot] : slots_) {
    const NumberedWork& work = slot->work;
    if (slot->busy || work.state != State::kOpen) continue;
    idle.push_back({lsid, work.number, work.connection, now - (work.deadline - lifetime_)});
  }
  return idle;
}

std::vector<Transactions::Name> Transactions::Sweep() {
  std::vector<Name> aborted;
  const auto now = shared_.clock.Now();
  bool notes = false;
  {
    const MutexLock lock(mu_);
    for (auto& [lsid, slot] : slots_) {
      if (slot->busy || slot->work.state != State::kOpen) continue;
      if (now >= slot->work.orphaned_at) {
        log::info("a transaction is aborted because its client has closed the connection");
      } else if (now >= slot->work.deadline) {
        log::info("a transaction was open for {} s and is aborted", lifetime_.count());
      } else {
        continue;
      }
      aborted.push_back({lsid, slot->work.number});
      AbortWork(slot->work);
    }
    if (now - notes_swept_ >= kNotesSweptEvery) {
      notes_swept_ = now;
      notes = true;
    }
  }
  if (notes) RemoveOldNotes();
  return aborted;
}

// Only sessions that this run of the server has not seen: the others are forgotten when they end.
void Transactions::RemoveOldNotes() {
  const int64_t oldest = shared_.clock.NowMillis() - int64_t{kSessionTimeoutMinutes} * 60'000;
  storage::WriteSet writes(shared_.store);
  size_t removed = 0;
  std::string kept;  // the session whose statements stay
  const auto cursor = shared_.store.NewCursor(storage::SessionRange(), {});
  for (cursor->SeekToFirst(); cursor->Valid() && removed < kNotesRemovedAtOnce; cursor->Next()) {
    const std::string lsid(storage::SessionOf(cursor->key()));
    if (storage::NumberOfStatements(cursor->key()) < 0) {
      const Value time = bson::View(cursor->value()).Find("time");
      if (time.Is(Type::kDate) && time.AsDate() >= oldest) kept = lsid;
    }
    const MutexLock lock(mu_);
    if (lsid == kept || slots_.contains(lsid)) continue;
    writes.Delete(cursor->key());
    ++removed;
  }
  if (!writes.empty()) shared_.store.Commit(writes).status().Ignore("the next sweep tries again");
}

void Transactions::Store(storage::WriteSet& writes, std::string_view lsid, NumberedWork& work, int64_t now_millis) {
  BRAID_ASSERT(work.number >= 0);  // the envelope refuses negative numbers
  bson::Builder record;
  record.Append("number", work.number).Append("time", bson::Date{now_millis});
  if (work.state == State::kCommitted) record.Append("committed", true);
  work.done.Store(writes, lsid, work.number, record);
  writes.Put(storage::SessionKey(lsid), record.Finish().bytes());
}

Status Transactions::Load(std::string_view lsid, NumberedWork* work) const {
  storage::Buffer buffer;
  BRAID_TRY(const bool found, shared_.store.Get(storage::SessionKey(lsid), {}, &buffer));
  if (!found) return {};
  const bson::View record(buffer.view());
  BRAID_TRY(work->number, NumberOf(record, lsid));
  work->state = record.Has("committed") ? State::kCommitted : State::kRetryable;
  return work->done.Load(shared_.store, lsid, work->number, record);
}

// The record may still be that of an older number.
Status Transactions::LoadNotes(std::string_view lsid, NumberedWork& work) const {
  storage::Buffer buffer;
  BRAID_TRY(const bool found, shared_.store.Get(storage::SessionKey(lsid), {}, &buffer));
  bson::View record;
  if (found) {
    BRAID_TRY(const int64_t number, NumberOf(bson::View(buffer.view()), lsid));
    if (number == work.number) record = bson::View(buffer.view());
  }
  return work.done.Load(shared_.store, lsid, work.number, record);
}

Transactions::Figures Transactions::figures() const {
  Figures figures{0, started_, committed_, aborted_, retried_};
  figures.open = figures.started - figures.committed - figures.aborted;
  return figures;
}

}  // namespace braid::commands
