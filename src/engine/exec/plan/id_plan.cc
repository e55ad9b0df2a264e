// IDHACK, and IXSCAN over single values of _id.
#include "engine/exec/plan/id_plan.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/exec/plan/index_scan.h"
#include "engine/exec/plan/interval.h"
#include "engine/exec/plan/output_stages.h"
#include "engine/exec/plan/routing.h"
#include "engine/storage/keys.h"
#include "engine/txn/context.h"
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

// With a snapshot all shards are of one moment. Without one a single shard is enough if the document cannot have left
// it unnoticed, which Look() checks.
Status IdPlan::Prepare(txn::Context& context) {
  if (!shards_.empty()) return {};
  if (context.snapshot().empty()) shards_ = RouteFilter(*query_.collection, query_.filter, nullptr);
  if (shards_.size() != 1) {
    context.FixSnapshot();
    shards_ = RouteInSnapshot(context, &query_);
  }
  CountRouted(query_, shards_);
  return {};
}

Result<bool> IdPlan::Look(txn::Context& context) {
  while (true) {
    BRAID_ASSERT(!shards_.empty());
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

bool IdPoints::Serves(const IndexPath& path) {
  return path.clustered && !path.backward && !path.limits && path.fields.size() == 1 &&
         std::ranges::all_of(path.fields[0], &Interval::IsPoint);
}

IdPoints::IdPoints(ShardRun& run, IndexPath path)
    : Stage(run, "IXSCAN"),
      path_(std::move(path)),
      key_(storage::DocumentPrefix(run.collection->number, run.shard)),
      prefix_size_(key_.size()) {
  BRAID_ASSERT(Serves(path_));
}

Result<bool> IdPoints::Pull(txn::Context& context, Row* row) {
  const Intervals& points = path_.fields[0];
  if (next_ == 0) {
    path_.index->uses.fetch_add(1, std::memory_order_relaxed);
    context.FixSnapshot();  // all of one moment, as a cursor's would be
  }
  for (; next_ < points.size(); ++figures_.works) {
    BRAID_CHECK_OK(context.Check());
    key_.resize(prefix_size_);
    key_ += points[next_++].begin;
    BRAID_TRY(const bool there, context.Get(key_, &document_));
    if (!there) continue;
    ++found_;
    ++run_.figures.keys_examined;
    *row = Row{};
    row->index = &path_;
    row->document = bson::View(document_.view());
    row->has_document = true;
    row->document_key = key_;
    row->key = row->document_key.substr(prefix_size_);
    return true;
  }
  return false;
}

void IdPoints::Describe(bson::Builder& out, bool executed) const {
  DescribeIndex(path_, out);
  if (!executed) return;
  AppendNumber(out, "keysExamined", found_);
  AppendNumber(out, "seeks", next_);
  AppendNumber(out, "dupsTested", 0);
  AppendNumber(out, "dupsDropped", 0);
}

}  // namespace braid::query::plan
