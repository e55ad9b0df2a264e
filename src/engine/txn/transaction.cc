// The transaction's part of a context: collections that it made, and how it commits.
//
// Between its statements a transaction holds locks on documents but no gate, so the description of a collection may
// change: an index is added, a chunk moves, it is dropped. What the transaction has prepared does not fit then. At
// commit it holds the gates of all collections that it wrote to, and gives up if one of them is not as it was.
#include "base/assert.h"
#include "base/strings.h"
#include "engine/txn/context.h"

namespace braid::txn {
namespace {

Status Changed(const catalog::Namespace& ns) {
  return {Code::kWriteConflict,
          StrCat("WriteConflict: the collection ", ns.ToString(), " was changed or moved during the transaction")};
}

}  // namespace

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

Status Context::NoteWriter(const catalog::CollectionPtr& collection) {
  if (!is_transaction() || FindDraft(collection->ns) != nullptr) return {};
  const auto [at, fresh] = written_.emplace(collection->number, collection);
  return fresh || at->second == collection ? Status() : Changed(collection->ns);
}

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
