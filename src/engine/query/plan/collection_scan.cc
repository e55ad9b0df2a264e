// COLLSCAN.
#include "engine/query/plan/collection_scan.h"

#include "engine/storage/keys.h"

namespace braid::query::plan {

CollectionScan::CollectionScan(Run& run, Residual residual, bool backward)
    : Stage(run, "COLLSCAN"), residual_(std::move(residual)), backward_(backward) {}

Result<bool> CollectionScan::Pull(txn::Context& context, Row* row) {
  const catalog::Collection& collection = *run_.collection;
  for (;; ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    if (cursor_ == nullptr) {
      cursor_ = context.NewCursor(storage::DocumentRange(collection.number, run_.shard));
      backward_ ? cursor_->SeekToLast() : cursor_->SeekToFirst();
    } else {
      backward_ ? cursor_->Prev() : cursor_->Next();
    }
    if (!cursor_->Valid()) {
      BRAID_CHECK_OK(cursor_->status());
      cursor_.reset();  // lets the store free what the cursor kept
      return false;
    }
    ++examined_;
    ++run_.figures.documents_examined;
    const bson::View document(cursor_->value());
    if (run_.hides_expired && collection.IsExpired(document, context.now_millis())) continue;
    BRAID_TRY(const bool met, MeetsAll(residual_, document));
    if (!met) continue;
    *row = Row{};
    row->document = document;
    row->has_document = true;
    row->document_key = cursor_->key();
    return true;
  }
}

void CollectionScan::Describe(bson::Builder& out, bool executed) const {
  out.Append("direction", backward_ ? "backward" : "forward");
  if (executed) AppendNumber(out, "docsExamined", examined_);
}

}  // namespace braid::query::plan
