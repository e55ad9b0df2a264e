// Plan: a query as a tree of stages, chosen when it is first pulled.
#include "engine/query/plan/access.h"
#include "engine/query/plan/executor.h"
#include "engine/query/plan/id_plan.h"
#include "engine/query/plan/planner.h"

namespace braid::query {
namespace plan {
namespace {

class TreePlan final : public Plan {
 public:
  explicit TreePlan(Query query) : query_(std::move(query)), run_(query_) {}

  Status MakeAccesses() {
    BRAID_TRY(accesses_, PlanAccesses(query_));
    return {};
  }

  Status Prepare(txn::Context& context) override {
    if (root_ != nullptr) return {};
    if (context.snapshot().empty()) context.FixSnapshot();
    // Whatever the snapshot holds has set its bits before.
    if (!PathsAreCurrent(accesses_)) BRAID_CHECK_OK(MakeAccesses());
    BRAID_TRY(chosen_, ChooseAccess(context, query_, accesses_));
    root_ = BuildStages(run_, query_, accesses_[chosen_]);
    return {};
  }

  Result<bool> Next(txn::Context& context, bson::View* document) override {
    if (root_ == nullptr) BRAID_CHECK_OK(Prepare(context));
    Row row;
    BRAID_TRY(const bool more, root_->Next(context, &row));
    if (!more) return false;
    *document = row.document;
    ++run_.figures.returned;
    return true;
  }

  const ExecutionFigures& figures() const override { return run_.figures; }
  const Query& query() const override { return query_; }

  bson::Document Explain(bool executed) const override {
    return root_ != nullptr ? root_->Explain(executed) : ExplainAccess(chosen_);
  }

  std::vector<bson::Document> RejectedPlans() const override {
    std::vector<bson::Document> rejected;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      if (i != chosen_) rejected.push_back(ExplainAccess(i));
    }
    return rejected;
  }

 private:
  bson::Document ExplainAccess(size_t i) const {
    Run run(query_);
    return BuildStages(run, query_, accesses_[i])->Explain(false);
  }

  const Query query_;
  std::vector<Access> accesses_;
  size_t chosen_ = 0;
  Run run_;
  std::unique_ptr<Stage> root_;  // null until Prepare
};

}  // namespace
}  // namespace plan

Result<std::unique_ptr<Plan>> Plan::Make(Query query) {
  if (plan::IsIdLookup(query)) {
    if (query.projection_optional) query.projection = nullptr;
    return std::unique_ptr<Plan>(std::make_unique<plan::IdPlan>(std::move(query)));
  }
  auto made = std::make_unique<plan::TreePlan>(std::move(query));
  BRAID_CHECK_OK(made->MakeAccesses());
  return std::unique_ptr<Plan>(std::move(made));
}

}  // namespace braid::query
