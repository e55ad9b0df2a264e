// IDHACK.
#include "engine/query/plan/id_plan.h"

#include "engine/query/plan/output_stages.h"
#include "engine/query/plan/type_bracket.h"
#include "engine/txn/records.h"

namespace braid::query::plan {

bool IsIdLookup(const Query& query) {
  const MatchNode& root = query.filter.root();
  if (query.collection == nullptr || root.op() != MatchOp::kEq || root.path() != "_id") return false;
  const bson::Value id = root.operand();
  if (id.IsNullish() || id.Is(bson::Type::kArray)) return false;
  if (query.environment != nullptr && query.environment->collation != nullptr && IsCollatable(id)) return false;
  return query.skip == 0 && !query.hint && query.hint_name.empty() && !query.min && !query.max && !query.return_key &&
         !query.show_record_id;
}

IdPlan::IdPlan(Query query)
    : query_(std::move(query)), key_(txn::DocumentKey(*query_.collection, query_.filter.root().operand())) {}

Result<bool> IdPlan::Next(txn::Context& context, bson::View* document) {
  if (done_) return false;
  done_ = true;
  BRAID_CHECK_OK(context.Check());
  query_.collection->indexes.front()->uses.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(const bool found, context.Get(key_, &buffer_));
  if (!found) return false;
  ++figures_.keys_examined;
  ++figures_.documents_examined;
  *document = bson::View(buffer_.view());
  if (query_.collection->IsExpired(*document, context.now_millis())) return false;
  if (query_.projection != nullptr && !query_.projection->identity()) {
    bson::Arena arena;
    BRAID_TRY(bson::Document shown, query_.projection->Apply(*document, arena));
    projected_ = std::make_unique<bson::Document>(std::move(shown));
    *document = *projected_;
  }
  ++figures_.returned;
  return true;
}

bson::Document IdPlan::Explain(bool executed) const {
  const auto stage = [&](bson::Builder& out, std::string_view name) {
    out.Append("stage", name);
    if (!executed) return;
    AppendNumber(out, "nReturned", figures_.returned);
    out.Append("executionTimeMillisEstimate", 0);
    AppendNumber(out, "works", figures_.returned + 1);
    AppendNumber(out, "advanced", figures_.returned);
    out.Append("needTime", 0).Append("needYield", 0).Append("saveState", 0).Append("restoreState", 0);
    out.Append("isEOF", done_ ? 1 : 0);
  };
  bson::Builder out;
  const bool projects = query_.projection != nullptr && !query_.projection->identity();
  if (projects) {
    stage(out, ProjectionName(query_, false));
    if (!query_.projection_spec.empty()) out.Append("transformBy", query_.projection_spec);
    out.OpenObject("inputStage");
  }
  stage(out, "IDHACK");
  if (executed) {
    AppendNumber(out, "keysExamined", figures_.keys_examined);
    AppendNumber(out, "docsExamined", figures_.documents_examined);
  }
  if (projects) out.Close();
  return out.Finish();
}

}  // namespace braid::query::plan
