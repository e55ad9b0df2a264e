// COLLSCAN and FETCH.
#include "engine/exec/plan/scans.h"

#include "base/work.h"
#include "engine/storage/keys.h"
#include "engine/txn/records.h"

namespace braid::query::plan {
namespace {

void DescribeScan(bson::Builder& out, bool backward, bool executed, uint64_t examined) {
  out.Append("direction", backward ? "backward" : "forward");
  if (executed) AppendNumber(out, "docsExamined", examined);
}

}  // namespace

Result<bool> DocumentStage::Passes(txn::Context& context, bson::View document) {
  ++examined_;
  ++run_.figures.documents_examined;
  if (run_.hides_expired && run_.collection->IsExpired(document, context.now_millis())) return false;
  return MeetsAll(residual_, document);
}

Result<bool> CollectionScan::Pull(txn::Context& context, Row* row) {
  for (;; ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    if (cursor_ == nullptr) {
      cursor_ = context.NewCursor(storage::DocumentRange(run_.collection->number, run_.shard));
      backward_ ? cursor_->SeekToLast() : cursor_->SeekToFirst();
    } else {
      backward_ ? cursor_->Prev() : cursor_->Next();
    }
    if (!cursor_->Valid()) {
      BRAID_CHECK_OK(cursor_->status());
      cursor_.reset();  // lets the store free what the cursor kept
      return false;
    }
    const bson::View document(cursor_->value());
    BRAID_CHECK_OK(Work::Current().Tick(StepsFor(document.bytes().size())));
    BRAID_TRY(const bool passes, Passes(context, document));
    if (!passes) continue;
    *row = Row{};
    row->document = document;
    row->has_document = true;
    row->document_key = cursor_->key();
    return true;
  }
}

void CollectionScan::Describe(bson::Builder& out, bool executed) const {
  DescribeScan(out, backward_, executed, examined());
}

Result<bool> RowScan::Pull(txn::Context& context, Row* row) {
  const auto& rows = *run_.collection->rows;
  for (; next_ < rows.size(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    const bson::View document = backward_ ? rows[rows.size() - 1 - next_] : rows[next_];
    ++next_;
    BRAID_TRY(const bool passes, Passes(context, document));
    if (!passes) continue;
    *row = Row{};
    row->document = document;
    row->has_document = true;
    key_ = txn::DocumentKey(*run_.collection, run_.shard, document.Find("_id"));
    row->document_key = key_;
    return true;
  }
  return false;
}

void RowScan::Describe(bson::Builder& out, bool executed) const { DescribeScan(out, backward_, executed, examined()); }

Result<bool> Fetch::Pull(txn::Context& context, Row* row) {
  for (;; ++figures_.works) {
    BRAID_TRY(const bool more, input().Next(context, row));
    if (!more) return false;
    if (!row->has_document) {
      // Gone only if the context reads no fixed snapshot.
      BRAID_TRY(const bool found, context.Get(row->document_key, &buffer_));
      if (!found) continue;
      row->document = bson::View(buffer_.view());
      row->has_document = true;
    }
    BRAID_TRY(const bool passes, Passes(context, row->document));
    if (passes) return true;
  }
}

void Fetch::Describe(bson::Builder& out, bool executed) const {
  if (!executed) return;
  AppendNumber(out, "docsExamined", examined());
  AppendNumber(out, "alreadyHasObj", 0);
}

}  // namespace braid::query::plan
