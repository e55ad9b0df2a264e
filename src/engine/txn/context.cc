// Context: snapshot, locks and commits; and the transaction's part of it, collections that it made and how it commits.
#include "engine/txn/context.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/storage/keys.h"

namespace braid::txn {
namespace {

LockOwner NextOwner() {
  static std::atomic<LockOwner> last{0};
  return ++last;
}

Status Changed(const catalog::Namespace& ns) {
  return {Code::kWriteConflict,
          StrCat("WriteConflict: the collection ", ns.ToString(), " was changed or moved during the transaction")};
}

}  // namespace

Context::Context(Shared& shared, Operation& operation, Kind kind)
    : shared_(shared),
      operation_(&operation),
      kind_(kind),
      now_millis_(shared.clock.NowMillis()),
      owner_(NextOwner()),
      writes_(shared.store) {}

Context::~Context() {
  Abort();
  CloseView();
}

void Context::CloseView() {
  if (std::exchange(has_view_, false)) shared_.locks.CloseView();
}

void Context::Enter(Operation& operation) {
  operation_ = &operation;
  now_millis_ = shared_.clock.NowMillis();
}

void Context::FixSnapshot() {
  if (!snapshot_.empty()) return;
  BRAID_ASSERT(!has_view_);  // a view is opened before its snapshot is taken, and both stay to the end
  has_view_ = is_transaction();
  if (has_view_) shared_.locks.OpenView();
  snapshot_ = shared_.store.TakeSnapshot();
}

Result<bool> Context::Get(std::string_view key, storage::Buffer* out) const { return writes_.Get(key, snapshot_, out); }

std::unique_ptr<storage::Cursor> Context::NewCursor(storage::Range range,
                                                    std::unique_ptr<storage::Cursor> spare) const {
  return writes_.NewCursor(std::move(range), snapshot_, std::move(spare));
}

Status Context::Lock(std::string_view key) {
  const uint64_t hash = LockTable::HashOf(key);
  const Result<bool> locked_now =
      has_view_ ? shared_.locks.Lock(owner_, hash, snapshot_.position()) : shared_.locks.Lock(owner_, hash);
  if (!locked_now.ok()) {
    conflict_ = hash;
    return locked_now.error();
  }
  if (*locked_now) locked_.push_back(hash);
  return {};
}

Status Context::WaitForConflict() {
  BRAID_ASSERT(!is_transaction() && locked_.empty() && writes_.empty());  // so there is no cycle of waiting
  BRAID_CHECK_OK(shared_.locks.Wait(owner_, conflict_, *operation_));
  locked_.push_back(conflict_);
  return {};
}

void Context::CountDocument(const catalog::CollectionPtr& collection, storage::ShardNumber shard, int64_t documents,
                            int64_t bytes) {
  for (Delta& delta : deltas_) {
    if (delta.collection->number != collection->number || delta.shard != shard) continue;
    delta.documents += documents;
    delta.bytes += bytes;
    return;
  }
  deltas_.push_back({collection, shard, documents, bytes});
}

void Context::NoteMultikey(std::shared_ptr<const catalog::Index> index, uint64_t bits) {
  BRAID_ASSERT(Holds(storage::MultikeyKey(index->number)));
  index->multikey.fetch_or(bits);
  multikey_.emplace_back(std::move(index), bits);
}

void Context::AddFigures() {
  for (const Delta& delta : deltas_) {
    if (delta.documents != 0) writes_.Add(storage::CountKey(delta.collection->number, delta.shard), delta.documents);
    if (delta.bytes != 0) writes_.Add(storage::BytesKey(delta.collection->number, delta.shard), delta.bytes);
  }
}

Status Context::FinishCommit(Result<storage::LogPosition> position) {
  if (!position.ok()) {
    Abort();
    return position.error();
  }
  BRAID_ASSERT(writes_.empty() && *position > 0);
  for (const Delta& delta : deltas_) {
    delta.collection->state->documents.fetch_add(delta.documents, std::memory_order_relaxed);
    delta.collection->state->bytes.fetch_add(delta.bytes, std::memory_order_relaxed);
  }
  for (const auto& [index, bits] : multikey_) index->multikey_stored.fetch_or(bits);
  deltas_.clear();
  multikey_.clear();
  writes_charge_.Release();
  NotePosition(*position);
  CloseView();  // so that this transaction's own changes are remembered only if others have a view
  ReleaseLocks(*position);
  return {};
}

Status Context::Commit() {
  if (is_transaction()) return CommitTransaction();
  if (writes_.empty()) {
    ReleaseLocks();
    return {};
  }
  if (before_commit_) before_commit_(writes_);
  AddFigures();
  return FinishCommit(shared_.store.Commit(writes_));
}

void Context::Abort() {
  writes_.Clear();
  writes_charge_.Release();
  deltas_.clear();
  multikey_.clear();
  drafts_.clear();
  written_.clear();
  ReleaseLocks();
}

bool Context::Holds(std::string_view key) const {
  return std::find(locked_.begin(), locked_.end(), LockTable::HashOf(key)) != locked_.end();
}

void Context::ReleaseLocks(storage::LogPosition changed_at) {
  shared_.locks.Unlock(owner_, locked_, changed_at);
  locked_.clear();
}

catalog::CollectionPtr Context::FindDraft(const catalog::Namespace& ns) const {
  for (const catalog::CollectionPtr& draft : drafts_) {
    if (draft->ns == ns) return draft;
  }
  return nullptr;
}

void Context::KeepDraft(catalog::CollectionPtr draft) {
  BRAID_ASSERT(is_transaction());
  for (catalog::CollectionPtr& known : drafts_) {
    if (known->number != draft->number) continue;
    known = std::move(draft);
    return;
  }
  drafts_.push_back(std::move(draft));
}

Status Context::CheckName(const catalog::Collection& collection) const {
  if (snapshot_.empty() || collection.named_at <= snapshot_.position()) return {};
  return {Code::kSnapshotUnavailable, StrCat("the collection ", collection.ns.ToString(),
                                             " has got its name after the snapshot that is read; try again")};
}

Status Context::NoteWriter(const catalog::CollectionPtr& collection) {
  if (!is_transaction() || FindDraft(collection->ns) != nullptr) return {};
  const auto [at, fresh] = written_.emplace(collection->number, collection);
  return fresh || at->second == collection ? Status() : Changed(collection->ns);
}

// Between its statements a transaction holds locks on documents but no gate, so the description of a collection may
// change: an index is added, a chunk moves, it is dropped. What the transaction has prepared does not fit then. At
// commit it holds the gates of all collections that it wrote to, and gives up if one of them is not as it was.
//
// In the order of the collections' numbers, as the catalogue takes the gates of two, and before the catalogue's mutex,
// so there is no cycle of waiting.
Result<storage::LogPosition> Context::CommitUnderGates() {
  std::vector<Gate::Pass> gates;
  for (const auto& [number, collection] : written_) {
    BRAID_TRY(gates.emplace_back(), collection->state->gate.Share(*operation_));
    if (shared_.catalog.Find(collection->ns) != collection) return Changed(collection->ns);
  }
  if (drafts_.empty()) return shared_.store.Commit(writes_);
  return shared_.catalog.Publish(drafts_, writes_);
}

Status Context::CommitTransaction() {
  if (before_commit_) before_commit_(writes_);
  AddFigures();
  if (changes_something()) BRAID_CHECK_OK(FinishCommit(CommitUnderGates()));
  Abort();  // releases the rest
  return {};
}

}  // namespace braid::txn
