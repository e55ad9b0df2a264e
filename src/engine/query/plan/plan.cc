// Plan: a query on the shards that it needs. They are settled when it is first pulled, with the snapshot.
#include "engine/query/plan/gather.h"
#include "engine/query/plan/id_plan.h"
#include "engine/query/plan/planner.h"
#include "engine/query/plan/routing.h"

namespace braid::query {
namespace plan {
namespace {

/// What each of several shards is asked for: skipping is done when they are put together, and so is the last limit.
Query PartOf(const Query& whole, bool merged) {
  Query part = whole;
  if (!merged) return part;
  part.keeps_sort_key = !whole.sort.empty() && whole.sort.parts()[0].path != "$natural";
  if (whole.limit != 0) part.limit = whole.LimitAndSkip();
  part.skip = 0;
  return part;
}

class TreePlan final : public Plan {
 public:
  explicit TreePlan(Query query) : query_(std::move(query)), part_(PartOf(query_, false)) {}

  Status MakeAccesses() {
    BRAID_TRY(accesses_, PlanAccesses(part_));
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
    query_.read_at = context.snapshot().position();
    const bool merged = shards.size() > 1;
    // Whatever the snapshot holds has set its bits before.
    if (merged || query_.collection != before || !PathsAreCurrent(accesses_) || !AreReady(accesses_, query_.read_at)) {
      part_ = PartOf(query_, merged);
      BRAID_CHECK_OK(MakeAccesses());
    }
    CountRouted(query_, shards.size());
    for (const storage::ShardNumber shard : shards) {
      shards_.push_back(std::make_unique<ShardPlan>(part_, accesses_, shard));
    }
    if (merged) gather_ = std::make_unique<Gather>(shards_, part_.keeps_sort_key);
    return {};
  }

  Query query_;
  Query part_;
  std::vector<Access> accesses_;
  std::vector<std::unique_ptr<ShardPlan>> shards_;  // empty until it is routed
  std::unique_ptr<Gather> gather_;                  // null with one shard
  int64_t skipped_ = 0;
  int64_t given_ = 0;
};

}  // namespace

void CountRouted(const Query& query, size_t shards) {
  if (query.explain || query.collection == nullptr || query.collection->rows != nullptr) return;
  if (!query.collection->sharded()) return;
  catalog::CollectionState& state = *query.collection->state;
  (shards > 1 ? state.scattered : state.targeted).fetch_add(1, std::memory_order_relaxed);
}

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
