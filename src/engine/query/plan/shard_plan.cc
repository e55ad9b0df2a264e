#include "engine/query/plan/shard_plan.h"

#include "engine/query/plan/planner.h"

namespace braid::query::plan {

Status ShardPlan::Prepare(txn::Context& context) {
  if (root_ != nullptr) return {};
  BRAID_TRY(chosen_, ChooseAccess(context, query_, run_.shard, accesses_));
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

bson::Document ShardPlan::ExplainAccess(size_t i) const {
  Run run(query_, run_.shard);
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
