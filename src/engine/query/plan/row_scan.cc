#include "engine/query/plan/row_scan.h"

#include "engine/txn/records.h"

namespace braid::query::plan {

Result<bool> RowScan::Pull(txn::Context& context, Row* row) {
  const auto& rows = *run_.collection->rows;
  for (; next_ < rows.size(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    const bson::View document = backward_ ? rows[rows.size() - 1 - next_] : rows[next_];
    ++next_;
    ++run_.figures.documents_examined;
    BRAID_TRY(const bool met, MeetsAll(residual_, document));
    if (!met) continue;
    *row = Row{};
    row->document = document;
    row->has_document = true;
    key_ = txn::DocumentKey(*run_.collection, run_.shard, document.Find("_id"));
    row->document_key = key_;
    return true;
  }
  return false;
}

void RowScan::Describe(bson::Builder& out, bool executed) const {
  out.Append("direction", backward_ ? "backward" : "forward");
  if (executed) AppendNumber(out, "docsExamined", static_cast<uint64_t>(next_));
}

}  // namespace braid::query::plan
