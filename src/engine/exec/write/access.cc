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
    if (access.Hold(catalog)) break;
  }
  BRAID_CHECK_OK(context.NoteWriter(access.collection_));
  return access;
}

bool WriteAccess::Hold(const catalog::Catalog& catalog) {
  gate_ = std::shared_lock(collection_->state->gate);
  if (catalog.Find(collection_->ns) == collection_) return true;
  gate_.unlock();  // it changed before we had the gate
  return false;
}

Status WriteAccess::LetGo(txn::Context& context, const std::function<Status()>& wait) {
  BRAID_ASSERT(collection_ != nullptr);
  if (!gate_.owns_lock()) return wait();
  gate_.unlock();
  BRAID_CHECK_OK(wait());
  const catalog::Catalog& catalog = context.shared().catalog;
  while (!Hold(catalog)) {
    catalog::CollectionPtr now = catalog.Find(collection_->ns);
    if (now == nullptr || now->number != collection_->number) {
      return {Code::kQueryPlanKilled, StrCat("the collection ", collection_->ns.ToString(), " was dropped")};
    }
    collection_ = std::move(now);
  }
  return {};
}

Status WriteAccess::LetChangesIn(txn::Context& context) {
  const bool waiting = gate_.owns_lock() && collection_->state->changes_waiting.load(std::memory_order_relaxed) > 0;
  if (!waiting && !Fiber::IsTurnOver()) return {};
  return LetGo(context, [] {
    Fiber::GiveWay();
    return Status();
  });
}

}  // namespace braid::write
