// $sort: all documents in order; only the first of them if a $limit follows. The sorting is the planner's.
#include <limits>

#include "engine/exec/pipeline/stage.h"
#include "engine/exec/plan/sort_stage.h"

namespace braid::query::pipeline {
namespace {

/// The stages before a $sort, as the planner's SORT sees them.
class Before final : public plan::Stage {
 public:
  Before(plan::ShardRun& run, Stream& stream) : Stage(run, "PIPELINE"), stream_(stream) {}

 protected:
  Result<bool> Pull(txn::Context& context, plan::Row* row) override {
    BRAID_CHECK_OK(context.Check());
    row->has_document = true;
    return stream_.Next(context, &row->document);
  }

 private:
  Stream& stream_;
};

class Sort final : public Stage {
 public:
  Sort(std::string_view name, const bson::Value& specification, SortPattern pattern)
      : Stage(name, specification), pattern_(std::move(pattern)) {}

  bool JoinFront(Front& front) const override {
    if (front.cut() || front.projection != nullptr || !front.sort.empty()) return false;
    front.sort = pattern_;
    return true;
  }
  void Expect(uint64_t count) override { expected_ = count; }
  void Rest(txn::Context& context) override {
    if (sorted_ != nullptr) sorted_->Rest(context);
  }

  Needs CollectPaths(std::set<std::string>* paths) const override {
    for (const SortPattern::Part& part : pattern_.parts()) paths->insert(part.path);
    return Needs::kMore;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    if (sorted_ == nullptr) {
      sorted_ = std::make_unique<plan::Sort>(run_, pattern_, expected_, false, std::make_unique<Before>(run_, input()));
    }
    plan::Row row;
    BRAID_TRY(const bool more, sorted_->Next(context, &row));
    if (more) *document = row.document;
    return more;
  }

 private:
  const SortPattern pattern_;
  uint64_t expected_ = 0;  // 0: all
  plan::ShardRun run_{Query{}, 0};
  std::unique_ptr<plan::Sort> sorted_;  // null until the first pull
};

}  // namespace

Status ParseSort(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject)) return {Location(15973), "the $sort key specification must be an object"};
  if (specification.AsView().empty()) return {Location(15976), "$sort stage must have at least one sort key"};
  BRAID_TRY(SortPattern pattern, SortPattern::Parse(specification.AsView(), parser.environment()->collation));
  parser.stages.push_back(std::make_unique<Sort>(name, specification, std::move(pattern)));
  return {};
}

}  // namespace braid::query::pipeline
