// Plan: a query on the shards that it needs, which are settled when it is first pulled, with the snapshot; what a plan
// costs, and its summary in a few words for the log of slow operations and the profiler.
#include "engine/exec/plan/plan.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/exec/plan/gather.h"
#include "engine/exec/plan/id_plan.h"
#include "engine/exec/plan/planner.h"
#include "engine/exec/plan/routing.h"

namespace braid::query {
namespace plan {
namespace {

class TreePlan final : public Plan {
 public:
  explicit TreePlan(Query query) : query_(std::move(query)), shard_query_(query_) {}

  Status MakeAccesses() {
    BRAID_TRY(accesses_, PlanAccesses(shard_query_));
    return {};
  }

  Status Prepare(txn::Context& context) override {
    BRAID_CHECK_OK(Route(context));
    for (const auto& shard : shards_) BRAID_CHECK_OK(shard->Prepare(context));
    return {};
  }

  Result<bool> Next(txn::Context& context, bson::View* document) override {
    if (shards_.empty()) BRAID_CHECK_OK(Route(context));
    if (gather_ == nullptr) {
      Row row;
      BRAID_TRY(const bool more, shards_.front()->Next(context, &row));
      *document = row.document;
      return more;
    }
    for (; skipped_ < query_.skip; ++skipped_) {
      BRAID_TRY(const bool more, gather_->Next(context, document));
      if (!more) return false;
    }
    if (query_.limit != 0 && given_ == query_.limit) return false;
    BRAID_TRY(const bool more, gather_->Next(context, document));
    given_ += more ? 1 : 0;
    return more;
  }

  void Rest(txn::Context& context) override {
    for (const auto& shard : shards_) shard->Rest(context);
  }

  ExecutionFigures figures() const override {
    ExecutionFigures sum;
    for (const auto& shard : shards_) sum.Add(shard->figures());
    if (gather_ != nullptr) sum.returned = static_cast<uint64_t>(given_);
    return sum;
  }

  const Query& query() const override { return query_; }
  storage::ShardNumber shard() const override {
    return gather_ != nullptr ? gather_->shard() : shards_.front()->shard();
  }

  std::vector<ShardReport> Report(bool executed) const override {
    std::vector<ShardReport> reports;
    for (const auto& shard : shards_) reports.push_back(shard->Report(executed));
    return reports;
  }

 private:
  Status Route(txn::Context& context) {
    if (!shards_.empty()) return {};
    if (context.snapshot().empty()) context.FixSnapshot();
    const catalog::CollectionPtr before = query_.collection;
    sharding::ShardNumbers shards{0};
    if (before != nullptr && before->rows == nullptr) shards = RouteInSnapshot(context, &query_);
    BRAID_ASSERT(!shards.empty());
    query_.read_at = context.snapshot().position();
    const bool merged = shards.size() > 1;
    AskOfEach(merged);
    // Whatever the snapshot holds has set its bits before. Rows that are merged in order need their documents.
    const bool covered = shard_query_.keeps_sort_key && std::ranges::any_of(accesses_, &Access::covered);
    if (covered || query_.collection != before || !PathsAreCurrent(accesses_) || !AreReady(accesses_, query_.read_at)) {
      BRAID_CHECK_OK(MakeAccesses());
    }
    CountRouted(query_, shards);
    for (const storage::ShardNumber shard : shards) {
      shards_.push_back(std::make_unique<ShardPlan>(shard_query_, accesses_, shard));
    }
    if (merged) gather_ = std::make_unique<Gather>(shards_, MergedBy());
    return {};
  }

  /// The query for each of several shards: skip and the final limit are applied when their rows are merged.
  void AskOfEach(bool merged) {
    shard_query_.collection = query_.collection;
    shard_query_.read_at = query_.read_at;
    if (!merged) return;
    shard_query_.keeps_sort_key = !query_.sort.empty() && query_.sort.parts()[0].path != "$natural";
    if (query_.limit != 0) shard_query_.limit = query_.LimitAndSkip();
    shard_query_.skip = 0;
  }

  Gather::Order MergedBy() const {
    if (!shard_query_.keeps_sort_key) return Gather::Order::kNone;
    // With several accesses each shard makes its own choice.
    if (accesses_.size() > 1 || !IsKeyOrdered(shard_query_, accesses_.front())) return Gather::Order::kSortKeys;
    return accesses_.front().paths.front().backward ? Gather::Order::kIndexBackward : Gather::Order::kIndex;
  }

  Query query_;
  Query shard_query_;  // the query for each shard
  std::vector<Access> accesses_;
  std::vector<std::unique_ptr<ShardPlan>> shards_;  // empty until it is routed
  std::unique_ptr<Gather> gather_;                  // null with one shard
  int64_t skipped_ = 0;
  int64_t given_ = 0;
};

}  // namespace

void CountRouted(const Query& query, const sharding::ShardNumbers& shards) {
  if (query.explain || query.collection == nullptr || query.collection->rows != nullptr) return;
  if (!query.collection->sharded()) return;
  catalog::CollectionState& state = *query.collection->state;
  (shards.size() > 1 ? state.scattered : state.targeted).fetch_add(1, std::memory_order_relaxed);
  for (const storage::ShardNumber shard : shards) state.by_shard.CountAsked(shard);
}

}  // namespace plan

namespace {

// The stages at the bottom, in order, each once.
void AddLeaves(bson::View stage, std::vector<std::string>& leaves) {
  if (const bson::Value input = stage.Find("inputStage"); input.Is(bson::Type::kObject)) {
    return AddLeaves(input.AsView(), leaves);
  }
  if (const bson::Value inputs = stage.Find("inputStages"); inputs.Is(bson::Type::kArray)) {
    for (const bson::Element& input : inputs.AsView()) AddLeaves(input.value.AsView(), leaves);
    return;
  }
  const bson::Value name = stage.Find("stage");
  if (!name.Is(bson::Type::kString)) return;
  std::string text(name.AsString());
  if (const bson::Value keys = stage.Find("keyPattern"); keys.Is(bson::Type::kObject)) {
    text += StrCat(" ", bson::ToShell(keys.AsView()));
  }
  if (leaves.empty() || leaves.back() != text) leaves.push_back(std::move(text));
}

}  // namespace

Result<std::unique_ptr<Plan>> Plan::Make(Query query) {
  if (plan::IsIdLookup(query)) {
    if (query.projection_optional) query.projection = nullptr;
    return std::unique_ptr<Plan>(std::make_unique<plan::IdPlan>(std::move(query)));
  }
  auto made = std::make_unique<plan::TreePlan>(std::move(query));
  BRAID_CHECK_OK(made->MakeAccesses());
  return std::unique_ptr<Plan>(std::move(made));
}

std::string PlanSummary(const std::vector<ShardReport>& shards) {
  if (shards.empty()) return {};
  std::vector<std::string> leaves;
  AddLeaves(shards.front().stages, leaves);
  std::string summary;
  for (const std::string& leaf : leaves) summary += summary.empty() ? leaf : StrCat(", ", leaf);
  return summary;
}

PlanCost::PlanCost(txn::Context& context, const Stream& stream) : context_(context), plan_(stream.plan()) {
  if (plan_ != nullptr) before_ = plan_->figures();
}

PlanCost::~PlanCost() {
  if (plan_ == nullptr) return;
  const ExecutionFigures now = plan_->figures();
  txn::Operation& operation = context_.operation();
  operation.cost.keys_examined += now.keys_examined - before_.keys_examined;
  operation.cost.documents_examined += now.documents_examined - before_.documents_examined;
  if (operation.cost.plan.empty() && operation.IsRecorded()) operation.cost.plan = PlanSummary(plan_->Report(false));
}

}  // namespace braid::query
