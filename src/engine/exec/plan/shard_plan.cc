// From an access to stages, in the order in which MongoDB stacks them; the choice between accesses by a trial on the
// data; running them on one shard.
#include "engine/exec/plan/shard_plan.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/exec/plan/id_plan.h"
#include "engine/exec/plan/index_scan.h"
#include "engine/exec/plan/output_stages.h"
#include "engine/exec/plan/planner.h"
#include "engine/exec/plan/scans.h"
#include "engine/exec/plan/sort_stage.h"
#include "engine/exec/plan/union_stage.h"

namespace braid::query::plan {
namespace {

std::unique_ptr<Stage> BuildScan(ShardRun& run, const IndexPath& path) {
  if (IdPoints::Serves(path)) return std::make_unique<IdPoints>(run, path);
  return std::make_unique<IndexScan>(run, path);
}

std::unique_ptr<Stage> BuildSource(ShardRun& run, const Query& query, const Access& access) {
  switch (access.kind) {
    case Access::Kind::kNothing: return std::make_unique<End>(run);
    case Access::Kind::kRows: return std::make_unique<RowScan>(run, access.residual, access.backward);
    case Access::Kind::kCollection: return std::make_unique<CollectionScan>(run, access.residual, access.backward);
    case Access::Kind::kIndex: return BuildScan(run, access.paths.front());
    case Access::Kind::kUnion: {
      std::vector<std::unique_ptr<Stage>> scans;
      for (const IndexPath& path : access.paths) scans.push_back(std::make_unique<IndexScan>(run, path));
      return std::make_unique<Union>(run, std::move(scans));
    }
    case Access::Kind::kMerge: {
      std::vector<std::unique_ptr<IndexScan>> scans;
      for (const IndexPath& path : access.paths) scans.push_back(std::make_unique<IndexScan>(run, path));
      return std::make_unique<MergeScans>(run, std::move(scans), access.fixed, ToBson(query.sort));
    }
  }
  return nullptr;
}

constexpr uint64_t kTrialEntriesMax = 100;
/// So few rows that a trial costs more than it can save.
constexpr uint64_t kFewEntries = 10;

Result<uint64_t> CountEntries(txn::Context& context, const Query& query, storage::ShardNumber shard,
                              const Access& access, uint64_t max) {
  uint64_t entries = 0;
  for (const IndexPath& path : access.paths) {
    ShardRun run(query, shard);
    IndexScan scan(run, path, "IXSCAN", max - entries);
    Row row;
    for (bool more = true; more;) {
      BRAID_TRY(more, scan.Next(context, &row));
    }
    entries += run.figures.keys_examined;
    if (entries >= max) return max;
  }
  return entries;
}

bool IsBounded(const Access& access) { return access.score.equalities + access.score.ranges > 0; }

// A walk in the right order over a whole index pays if the limit is reached before long.
Result<bool> FindsSoon(txn::Context& context, const Query& query, storage::ShardNumber shard, const Access& access) {
  ShardRun run(query, shard);
  Fetch rows(run, access.residual, std::make_unique<IndexScan>(run, access.paths.front(), "IXSCAN", kTrialEntriesMax));
  Row row;
  const auto wanted = static_cast<uint64_t>(std::min<int64_t>(query.LimitAndSkip(), kFewEntries));
  for (uint64_t found = 0; found < wanted; ++found) {
    BRAID_TRY(const bool more, rows.Next(context, &row));
    if (!more) return false;
  }
  return true;
}

}  // namespace

bool IsKeyOrdered(const Query& query, const Access& access) {
  return access.kind == Access::Kind::kIndex && access.sorted && access.residual.empty() && query.skip == 0 &&
         !query.collection->has_ttl() && !IdPoints::Serves(access.paths.front());
}

std::unique_ptr<Stage> BuildStages(ShardRun& run, const Query& query, const Access& access) {
  const auto skip = static_cast<uint64_t>(query.skip);
  const auto limit = static_cast<uint64_t>(query.limit);
  const bool blocking = !query.sort.empty() && !access.sorted && access.kind != Access::Kind::kNothing;
  const bool from_entries =
      access.kind == Access::Kind::kIndex || access.kind == Access::Kind::kUnion || access.kind == Access::Kind::kMerge;

  std::unique_ptr<Stage> top = BuildSource(run, query, access);
  if (from_entries && !access.covered) top = std::make_unique<Fetch>(run, access.residual, std::move(top));
  if (blocking) {
    const uint64_t first = limit == 0 ? 0 : limit + skip;
    top = std::make_unique<Sort>(run, query.sort, first, query.return_key, std::move(top));
  }
  if (query.keeps_sort_key) top = std::make_unique<SortKeys>(run, query.sort, std::move(top));
  if (skip != 0) top = std::make_unique<Skip>(run, skip, std::move(top));
  if (query.return_key) {
    top = std::make_unique<ReturnKey>(run, std::move(top));
  } else if (query.projection != nullptr && !query.projection->identity() &&
             (access.covered || !query.projection_optional)) {
    top = std::make_unique<Project>(run, query, access.covered, std::move(top));
  }
  if (query.show_record_id) top = std::make_unique<RecordId>(run, std::move(top));
  // A sort with a limit gives no more than skip and limit let through.
  if (limit != 0 && (!blocking || skip != 0)) top = std::make_unique<Limit>(run, limit, std::move(top));
  return top;
}

Result<size_t> ChooseAccess(txn::Context& context, const Query& query, storage::ShardNumber shard,
                            const std::vector<Access>& accesses) {
  if (accesses.size() == 1 || accesses.front().score.single) return size_t{0};
  size_t best = 0;
  if (!IsBounded(accesses.front())) {
    const auto bounded = std::ranges::find_if(accesses, IsBounded);
    if (bounded == accesses.end()) return size_t{0};
    BRAID_TRY(const bool soon, FindsSoon(context, query, shard, accesses.front()));
    if (soon) return size_t{0};
    best = static_cast<size_t>(bounded - accesses.begin());
  }
  BRAID_TRY(uint64_t least, CountEntries(context, query, shard, accesses[best], kTrialEntriesMax));
  for (size_t i = best + 1; i < accesses.size() && least > kFewEntries; ++i) {
    if (!IsBounded(accesses[i])) continue;
    // Only a clear advantage outweighs the order: half the entries.
    BRAID_TRY(const uint64_t entries, CountEntries(context, query, shard, accesses[i], least / 2 + 1));
    if (entries <= least / 2) {
      least = entries;
      best = i;
    }
  }
  return best;
}

Status ShardPlan::Prepare(txn::Context& context) {
  if (root_ != nullptr) return {};
  BRAID_ASSERT(!accesses_.empty());
  BRAID_TRY(chosen_, ChooseAccess(context, query_, run_.shard, accesses_));
  BRAID_ASSERT(chosen_ < accesses_.size());
  root_ = BuildStages(run_, query_, accesses_[chosen_]);
  return {};
}

Result<bool> ShardPlan::Next(txn::Context& context, Row* row) {
  using std::chrono::steady_clock;
  const steady_clock::time_point started = run_.timed ? steady_clock::now() : steady_clock::time_point();
  if (root_ == nullptr) BRAID_CHECK_OK(Prepare(context));
  BRAID_TRY(const bool more, root_->Next(context, row));
  if (more) ++run_.figures.returned;
  if (run_.timed) time_ += steady_clock::now() - started;
  return more;
}

Result<bool> ShardPlan::NextPeeked(txn::Context& context, Row* row) {
  run_.needs_sort_key = false;
  Result<bool> more = Next(context, row);
  run_.needs_sort_key = true;
  return more;
}

Result<bool> ShardPlan::PeekKey(txn::Context& context, SpareCursor* spare, std::string_view* key) {
  using std::chrono::steady_clock;
  const steady_clock::time_point started = run_.timed ? steady_clock::now() : steady_clock::time_point();
  if (root_ == nullptr) BRAID_CHECK_OK(Prepare(context));
  BRAID_TRY(bool more, root_->PeekKey(context, spare, key));
  if (!more) {  // every stage is to know that it is at the end
    Row row;
    BRAID_TRY(more, root_->Next(context, &row));
  }
  if (run_.timed) time_ += steady_clock::now() - started;
  return more;
}

bson::Document ShardPlan::ExplainAccess(size_t i) const {
  ShardRun run(query_, run_.shard);
  return BuildStages(run, query_, accesses_[i])->Explain(false);
}

ShardReport ShardPlan::Report(bool executed) const {
  ShardReport report{.shard = run_.shard, .figures = run_.figures};
  report.millis = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time_).count());
  report.stages = root_ != nullptr ? root_->Explain(executed) : ExplainAccess(chosen_);
  for (size_t i = 0; i < accesses_.size(); ++i) {
    if (i != chosen_) report.rejected.push_back(ExplainAccess(i));
  }
  return report;
}

}  // namespace braid::query::plan
