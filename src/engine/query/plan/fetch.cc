// FETCH.
#include "engine/query/plan/fetch.h"

namespace braid::query::plan {

Fetch::Fetch(Run& run, Residual residual, std::unique_ptr<Stage> input)
    : Stage(run, "FETCH", std::move(input)), residual_(std::move(residual)) {}

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
    ++examined_;
    ++run_.figures.documents_examined;
    if (run_.hides_expired && run_.collection->IsExpired(row->document, context.now_millis())) continue;
    BRAID_TRY(const bool met, MeetsAll(residual_, row->document));
    if (met) return true;
  }
}

void Fetch::Describe(bson::Builder& out, bool executed) const {
  if (!executed) return;
  AppendNumber(out, "docsExamined", examined_);
  AppendNumber(out, "alreadyHasObj", 0);
}

}  // namespace braid::query::plan
