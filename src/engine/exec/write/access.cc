// Opening a collection for writing, and letting changes of its description in.
#include "engine/exec/write/access.h"

#include "base/assert.h"
#include "base/fiber.h"
#include "base/strings.h"

namespace braid::write {

Result<WriteAccess> WriteAccess::Open(txn::Context& context, const catalog::Namespace& ns, bool create) {
  catalog::Catalog& catalog = context.shared().catalog;
  WriteAccess access;
  access.collection_ = context.FindDraft(ns);
  if (access.collection_ != nullptr) return access;  // only this transaction knows it
  while (true) {
    access.collection_ = catalog.Find(ns);
    if (access.collection_ == nullptr && create && context.is_transaction()) {
      BRAID_TRY(access.collection_, catalog.Draft(ns, bson::View()));
      context.KeepDraft(access.collection_);
      return access;
    }
    if (access.collection_ == nullptr && create) {
      BRAID_TRY(catalog::Catalog::Change change, catalog.Ensure(ns));
      context.NotePosition(change.position);
      access.collection_ = change.collection;
    }
    if (access.collection_ == nullptr) return access;
    BRAID_TRY(const bool held, access.Hold(context));
    if (held) break;
  }
  if (context.is_transaction()) BRAID_CHECK_OK(context.CheckName(*access.collection_));
  BRAID_CHECK_OK(context.NoteWriter(access.collection_));
  return access;
}

Result<bool> WriteAccess::Hold(txn::Context& context) {
  BRAID_TRY(gate_, collection_->state->gate.Share(context.operation()));
  if (context.shared().catalog.Find(collection_->ns) == collection_) return true;
  gate_.Release();  // it changed before we had the gate
  return false;
}

Status WriteAccess::LetGo(txn::Context& context, const std::function<Status()>& wait) {
  BRAID_ASSERT(collection_ != nullptr);
  if (gate_.empty()) return wait();
  gate_.Release();
  BRAID_CHECK_OK(wait());
  while (true) {
    BRAID_TRY(const bool held, Hold(context));
    if (held) return context.NoteWriter(collection_);
    catalog::CollectionPtr now = context.shared().catalog.Find(collection_->ns);
    if (now == nullptr || now->number != collection_->number) {
      return {context.is_transaction() ? Code::kWriteConflict : Code::kQueryPlanKilled,
              StrCat("the collection ", collection_->ns.ToString(), " was dropped")};
    }
    collection_ = std::move(now);
  }
}

Status WriteAccess::LetChangesIn(txn::Context& context) {
  const bool is_wanted = !gate_.empty() && collection_->state->gate.IsWanted();
  if (!is_wanted && !Fiber::IsTurnOver()) return {};
  return LetGo(context, [] {
    Fiber::GiveWay();
    return Status();
  });
}

}  // namespace braid::write
