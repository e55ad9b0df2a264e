// IDHACK.
#include "engine/query/plan/id_plan.h"

#include "engine/query/plan/output_stages.h"
#include "engine/query/plan/routing.h"
#include "engine/query/plan/type_bracket.h"
#include "engine/txn/records.h"

namespace braid::query::plan {

bool IsIdLookup(const Query& query) {
  const MatchNode& root = query.filter.root();
  if (query.collection == nullptr || query.collection->rows != nullptr) return false;
  if (root.op() != MatchOp::kEq || root.path() != "_id") return false;
  const bson::Value id = root.operand();
  if (id.IsNullish() || id.Is(bson::Type::kArray)) return false;
  if (query.environment != nullptr && query.environment->collation != nullptr && IsCollatable(id)) return false;
  return query.skip == 0 && !query.hint && query.hint_name.empty() && !query.min && !query.max && !query.return_key &&
         !query.show_record_id;
}

// With a snapshot all shards are of one moment. Without one a single shard is enough, if the document cannot have left
// it unnoticed: Look() makes sure.
Status IdPlan::Prepare(txn::Context& context) {
  if (!shards_.empty()) return {};
  if (context.snapshot().empty()) shards_ = RouteFilter(*query_.collection, query_.filter, nullptr);
  if (shards_.size() != 1) {
    context.FixSnapshot();
    shards_ = RouteInSnapshot(context, &query_);
  }
  CountRouted(query_, shards_.size());
  return {};
}

Result<bool> IdPlan::Look(txn::Context& context) {
  while (true) {
    for (size_t i = 0; i < shards_.size(); ++i) {
      const std::string key = txn::DocumentKey(*query_.collection, shards_[i], query_.filter.root().operand());
      BRAID_TRY(const bool found, context.Get(key, &buffer_));
      if (!found) continue;
      found_on_ = i;
      return true;
    }
    if (!context.snapshot().empty()) return false;
    const catalog::CollectionPtr current = context.shared().catalog.Find(query_.collection->ns);
    if (current == nullptr || current->placement == query_.collection->placement) return false;
    context.FixSnapshot();  // the documents were moved meanwhile
    shards_ = RouteInSnapshot(context, &query_);
  }
}

Result<bool> IdPlan::Next(txn::Context& context, bson::View* document) {
  if (done_) return false;
  done_ = true;
  BRAID_CHECK_OK(context.Check());
  BRAID_CHECK_OK(Prepare(context));
  query_.collection->indexes.front()->uses.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(found_, Look(context));
  if (!found_) return false;
  *document = bson::View(buffer_.view());
  if (query_.collection->IsExpired(*document, context.now_millis())) return false;
  if (query_.projection != nullptr && !query_.projection->identity()) {
    bson::Arena arena;
    BRAID_TRY(bson::Document shown, query_.projection->Apply(*document, arena));
    projected_ = std::make_unique<bson::Document>(std::move(shown));
    *document = *projected_;
  }
  shown_ = true;
  return true;
}

ExecutionFigures IdPlan::figures() const {
  const uint64_t found = found_ ? 1 : 0;
  return {.returned = shown_ ? uint64_t{1} : 0, .keys_examined = found, .documents_examined = found};
}

std::vector<ShardReport> IdPlan::Report(bool executed) const {
  std::vector<ShardReport> reports;
  for (size_t i = 0; i < shards_.size(); ++i) {
    ShardReport report{.shard = shards_[i], .stages = ExplainShard(i, executed)};
    if (Has(i)) report.figures = figures();
    reports.push_back(std::move(report));
  }
  return reports;
}

bson::Document IdPlan::ExplainShard(size_t i, bool executed) const {
  const ExecutionFigures here = Has(i) ? figures() : ExecutionFigures{};
  const auto stage = [&](bson::Builder& out, std::string_view name) {
    out.Append("stage", name);
    if (!executed) return;
    AppendNumber(out, "nReturned", here.returned);
    out.Append("executionTimeMillisEstimate", 0);
    AppendNumber(out, "works", here.returned + 1);
    AppendNumber(out, "advanced", here.returned);
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
    AppendNumber(out, "keysExamined", here.keys_examined);
    AppendNumber(out, "docsExamined", here.documents_examined);
  }
  if (projects) out.Close();
  return out.Finish();
}

}  // namespace braid::query::plan
