// Count: from the collection's figure, from index entries, or from documents, whichever is enough.
#include "engine/query/plan/access.h"
#include "engine/query/plan/index_scan.h"
#include "engine/query/plan/planner.h"
#include "engine/query/plan/union_stage.h"
#include "engine/storage/keys.h"

namespace braid::query {
namespace plan {
namespace {

// COUNT: pulls its input to the end, or to skip and limit.
class CountStage final : public Stage {
 public:
  CountStage(Run& run, uint64_t skip, uint64_t limit, std::unique_ptr<Stage> input)
      : Stage(run, "COUNT", std::move(input)), skip_(skip), limit_(limit) {}
  uint64_t counted() const { return counted_; }

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override {
    for (; limit_ == 0 || counted_ < limit_; ++figures_.works) {
      BRAID_TRY(const bool more, input().Next(context, row));
      if (!more) break;
      if (skipped_ < skip_) {
        ++skipped_;
      } else {
        ++counted_;
      }
    }
    return false;
  }
  void Describe(bson::Builder& out, bool executed) const override {
    if (!executed) return;
    AppendNumber(out, "nCounted", counted_);
    AppendNumber(out, "nSkipped", skipped_);
  }

 private:
  const uint64_t skip_;
  const uint64_t limit_;
  uint64_t skipped_ = 0;
  uint64_t counted_ = 0;
};

bool KnowsCount(const Query& query, txn::Context& context) {
  return query.collection != nullptr && query.filter.matches_everything() && !query.hint && query.hint_name.empty() &&
         !query.min && !query.max && !query.collection->has_ttl() && context.writes().empty();
}

Result<int64_t> KnownCount(const Query& query, txn::Context& context) {
  const catalog::Collection& collection = *query.collection;
  int64_t count = collection.state->documents.load();
  if (!context.snapshot().empty()) {
    const std::string key = storage::CountKey(collection.number, collection.primary_shard);
    BRAID_TRY(count, context.shared().store.ReadCounter(key, context.snapshot()));
  }
  count = std::max<int64_t>(0, count - query.skip);
  return query.limit != 0 ? std::min(count, query.limit) : count;
}

// What a count does not need: order, shape, and the documents themselves if entries within the bounds are matches.
std::unique_ptr<Stage> BuildCounted(Run& run, const Query& query, const Access& access) {
  const bool from_entries = access.residual.empty() && !run.hides_expired;
  if (from_entries && access.kind == Access::Kind::kIndex) {
    return std::make_unique<IndexScan>(run, access.paths.front(), "COUNT_SCAN");
  }
  if (from_entries && access.kind == Access::Kind::kUnion) {
    std::vector<std::unique_ptr<Stage>> scans;
    for (const IndexPath& path : access.paths) scans.push_back(std::make_unique<IndexScan>(run, path));
    return std::make_unique<Union>(run, std::move(scans));
  }
  return BuildStages(run, query, access);
}

Query Stripped(const Query& query) {
  Query bare;
  bare.collection = query.collection;
  bare.filter = query.filter;
  bare.environment = query.environment;
  bare.hint = query.hint;
  bare.hint_name = query.hint_name;
  bare.min = query.min;
  bare.max = query.max;
  bare.explain = query.explain;
  return bare;
}

Result<CountExplanation> CountWithStages(txn::Context& context, const Query& query, bool run_it, bool explain) {
  const Query bare = Stripped(query);
  BRAID_TRY(std::vector<Access> accesses, PlanAccesses(bare));
  if (context.snapshot().empty()) context.FixSnapshot();
  if (!PathsAreCurrent(accesses)) {
    BRAID_TRY(accesses, PlanAccesses(bare));
  }
  BRAID_TRY(const size_t chosen, ChooseAccess(context, bare, accesses));
  Run run(bare);
  CountStage top(run, static_cast<uint64_t>(query.skip), static_cast<uint64_t>(query.limit),
                 BuildCounted(run, bare, accesses[chosen]));
  Row row;
  if (run_it) BRAID_CHECK_OK(top.Next(context, &row));
  CountExplanation result;
  result.figures = run.figures;
  result.count = static_cast<int64_t>(top.counted());
  if (!explain) return result;
  result.stages = top.Explain(run_it);
  for (size_t i = 0; i < accesses.size(); ++i) {
    Run other(bare);
    const CountStage rejected(other, 0, 0, BuildCounted(other, bare, accesses[i]));
    if (i != chosen) result.rejected.push_back(rejected.Explain(false));
  }
  return result;
}

}  // namespace
}  // namespace plan

Result<int64_t> Count(txn::Context& context, const Query& query) {
  if (plan::KnowsCount(query, context)) return plan::KnownCount(query, context);
  BRAID_TRY(const CountExplanation counted, plan::CountWithStages(context, query, true, false));
  return counted.count;
}

Result<CountExplanation> ExplainCount(txn::Context& context, const Query& query, bool executed) {
  if (!plan::KnowsCount(query, context)) return plan::CountWithStages(context, query, executed, true);
  CountExplanation result;
  if (executed) {
    BRAID_TRY(result.count, plan::KnownCount(query, context));
  }
  bson::Builder out;
  out.Append("stage", "RECORD_STORE_FAST_COUNT");
  if (executed) {
    out.Append("nReturned", 0).Append("executionTimeMillisEstimate", 0).Append("works", 1).Append("advanced", 0);
    out.Append("needTime", 0).Append("needYield", 0).Append("saveState", 0).Append("restoreState", 0);
    out.Append("isEOF", 1);
    plan::AppendNumber(out, "nCounted", static_cast<uint64_t>(result.count));
    plan::AppendNumber(out, "nSkipped", static_cast<uint64_t>(query.skip));
  }
  result.stages = out.Finish();
  return result;
}

}  // namespace braid::query
