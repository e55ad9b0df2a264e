#include "engine/query/pipeline/counted.h"

namespace braid::query::pipeline {

Result<bool> Counted::Next(txn::Context& context, bson::View* document) {
  if (done_) return false;
  done_ = true;
  int64_t count = 0;
  if (query_.explain) {
    BRAID_CHECK_OK(Prepare(context));
    BRAID_TRY(executed_, ExplainCount(context, query_, true));
    count = executed_.count;
  } else {
    BRAID_TRY(count, query::Count(context, query_));
  }
  if (count == 0) return false;
  output_ = stage_->FromCount(count);
  *document = output_;
  return true;
}

Status Counted::Prepare(txn::Context& context) {
  BRAID_TRY(planned_, ExplainCount(context, query_, false));
  return {};
}

bson::Document Counted::ExplainStage(bool executed) const {
  bson::Builder out;
  out.AppendAll(stage_->Explain(false));
  if (executed) out.Append("nReturned", executed_.count > 0 ? 1 : 0);
  return out.Finish();
}

}  // namespace braid::query::pipeline
