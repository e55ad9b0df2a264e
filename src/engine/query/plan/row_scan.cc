#include "engine/query/plan/row_scan.h"

namespace braid::query::plan {

Result<bool> RowScan::Pull(txn::Context& context, Row* row) {
  const auto& rows = *run_.collection->rows;
  for (; next_ < rows.size(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    const bson::View document = rows[next_++];
    ++run_.figures.documents_examined;
    BRAID_TRY(const bool met, MeetsAll(residual_, document));
    if (!met) continue;
    *row = Row{};
    row->document = document;
    row->has_document = true;
    return true;
  }
  return false;
}

}  // namespace braid::query::plan
