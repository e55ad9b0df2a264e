// Count: from the collection's figure, from index entries, or from documents, whichever is enough.
#include <map>

#include "engine/exec/plan/gather.h"
#include "engine/exec/plan/index_scan.h"
#include "engine/exec/plan/planner.h"
#include "engine/exec/plan/routing.h"
#include "engine/exec/plan/union_stage.h"
#include "engine/storage/keys.h"

namespace braid::query {
namespace plan {
namespace {

// COUNT: pulls its input to the end, or to skip and limit.
class CountStage final : public Stage {
 public:
  CountStage(ShardRun& run, uint64_t skip, uint64_t limit, std::unique_ptr<Stage> input)
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

struct CountOptions {
  uint64_t skip;
  uint64_t limit;  // 0: none
  bool run;
  bool explain;
};

bool KnowsCount(const Query& query, txn::Context& context) {
  return query.collection != nullptr && query.filter.matches_everything() && !query.hint && query.hint_name.empty() &&
         !query.min && !query.max && !query.collection->has_ttl() && query.collection->rows == nullptr &&
         context.writes().empty();
}

/// The figure of each shard that has documents, or of all together if the newest state is enough.
Result<std::map<storage::ShardNumber, int64_t>> KnownCounts(const catalog::Collection& collection,
                                                            txn::Context& context) {
  std::map<storage::ShardNumber, int64_t> counts;
  const auto cursor = context.NewCursor(storage::CounterRange(collection.number));
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    if (cursor->key().back() != 'n') continue;
    BRAID_TRY(const int64_t count, context.shared().store.ReadCounter(cursor->key(), context.snapshot()));
    counts[storage::ShardOfKey(cursor->key())] += count;
  }
  BRAID_CHECK_OK(cursor->status());
  return counts;
}

int64_t Cut(int64_t count, const Query& query) {
  count = std::max<int64_t>(0, count - query.skip);
  return query.limit != 0 ? std::min(count, query.limit) : count;
}

Result<int64_t> KnownCount(const Query& query, txn::Context& context) {
  const catalog::Collection& collection = *query.collection;
  if (context.snapshot().empty()) return Cut(collection.state->documents.load(), query);
  int64_t sum = 0;
  BRAID_TRY(const auto counts, KnownCounts(collection, context));
  for (const auto& [shard, count] : counts) sum += count;
  return Cut(sum, query);
}

// Removes what a count does not need: order, projection, and the documents themselves if entries within the bounds are
// matches.
std::unique_ptr<Stage> BuildCounted(ShardRun& run, const Query& query, const Access& access) {
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

/// The count on one shard: figures and, to be explained, stages.
Result<ShardReport> CountOnShard(txn::Context& context, const Query& bare, const std::vector<Access>& accesses,
                                 storage::ShardNumber shard, const CountOptions& options) {
  BRAID_TRY(const size_t chosen, ChooseAccess(context, bare, shard, accesses));
  ShardRun run(bare, shard);
  CountStage top(run, options.skip, options.limit, BuildCounted(run, bare, accesses[chosen]));
  Row row;
  if (options.run) BRAID_CHECK_OK(top.Next(context, &row));
  ShardReport report{.shard = shard, .figures = run.figures};
  report.figures.returned = top.counted();
  if (!options.explain) return report;
  report.stages = top.Explain(options.run);
  for (size_t i = 0; i < accesses.size(); ++i) {
    ShardRun other(bare, shard);
    const CountStage rejected(other, 0, 0, BuildCounted(other, bare, accesses[i]));
    if (i != chosen) report.rejected.push_back(rejected.Explain(false));
  }
  return report;
}

/// Several shards count everything (or up to skip plus limit); skip and limit are applied to the sum.
Result<CountExplanation> CountWithStages(txn::Context& context, const Query& query, bool run_it, bool explain) {
  Query bare = Stripped(query);
  if (context.snapshot().empty()) context.FixSnapshot();
  sharding::ShardNumbers shards{0};
  if (bare.collection != nullptr && bare.collection->rows == nullptr) shards = RouteInSnapshot(context, &bare);
  bare.read_at = context.snapshot().position();
  CountRouted(bare, shards);
  BRAID_TRY(const std::vector<Access> accesses, PlanAccesses(bare));
  CountOptions options{static_cast<uint64_t>(query.skip), static_cast<uint64_t>(query.limit), run_it, explain};
  if (shards.size() > 1) options = {0, query.limit == 0 ? 0 : options.skip + options.limit, run_it, explain};

  std::vector<Result<ShardReport>> reports(shards.size(), ShardReport());
  const auto count = [&](size_t i) { reports[i] = CountOnShard(context, bare, accesses, shards[i], options); };
  if (shards.size() == 1) {
    count(0);
  } else {
    RunPieces(context, shards.size(), count);
  }
  CountExplanation result;
  for (Result<ShardReport>& report : reports) {
    BRAID_CHECK_OK(report);
    result.count += static_cast<int64_t>(report->figures.returned);
    report->figures.returned = 0;
    result.shards.push_back(*std::move(report));
  }
  if (shards.size() > 1) result.count = Cut(result.count, query);
  return result;
}

/// The count of a shard from the collection's figure.
bson::Document ExplainKnown(bool executed, int64_t count, int64_t skip) {
  bson::Builder out;
  out.Append("stage", "RECORD_STORE_FAST_COUNT");
  if (executed) {
    out.Append("nReturned", 0).Append("executionTimeMillisEstimate", 0).Append("works", 1).Append("advanced", 0);
    out.Append("needTime", 0).Append("needYield", 0).Append("saveState", 0).Append("restoreState", 0);
    out.Append("isEOF", 1);
    AppendNumber(out, "nCounted", static_cast<uint64_t>(count));
    AppendNumber(out, "nSkipped", static_cast<uint64_t>(skip));
  }
  return out.Finish();
}

}  // namespace
}  // namespace plan

ExecutionFigures CountExplanation::figures() const {
  ExecutionFigures sum;
  for (const ShardReport& shard : shards) sum.Add(shard.figures);
  return sum;
}

Result<int64_t> Count(txn::Context& context, const Query& query) {
  txn::Operation& operation = context.operation();
  if (plan::KnowsCount(query, context)) {
    if (operation.IsRecorded()) operation.cost.plan = "RECORD_STORE_FAST_COUNT";
    return plan::KnownCount(query, context);
  }
  BRAID_TRY(const CountExplanation counted, plan::CountWithStages(context, query, true, false));
  const ExecutionFigures figures = counted.figures();
  operation.cost.keys_examined += figures.keys_examined;
  operation.cost.documents_examined += figures.documents_examined;
  if (!operation.IsRecorded()) return counted.count;
  Query described = query;
  described.explain = true;
  BRAID_TRY(const CountExplanation stages, plan::CountWithStages(context, described, false, true));
  operation.cost.plan = PlanSummary(stages.shards);
  return counted.count;
}

Result<CountExplanation> ExplainCount(txn::Context& context, const Query& query, bool executed) {
  if (!plan::KnowsCount(query, context)) return plan::CountWithStages(context, query, executed, true);
  CountExplanation result;
  BRAID_TRY(auto counts, plan::KnownCounts(*query.collection, context));
  const sharding::ShardNumbers shards = query.collection->placement->Shards();
  for (const storage::ShardNumber shard : shards) {
    const int64_t count = shards.size() == 1 ? plan::Cut(counts[shard], query) : counts[shard];
    result.shards.push_back({.shard = shard, .stages = plan::ExplainKnown(executed, count, query.skip)});
    result.count += count;
  }
  if (shards.size() > 1) result.count = plan::Cut(result.count, query);
  return result;
}

}  // namespace braid::query
