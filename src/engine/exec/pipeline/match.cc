// $match: the documents that meet a filter.
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

class Match final : public Stage {
 public:
  Match(std::string_view name, const bson::Value& specification, Filter filter)
      : Stage(name, specification), specification_(specification.AsView()), filter_(std::move(filter)) {}

  // May move before a sort, but neither before a $skip or $limit nor before a stage that changes documents.
  bool JoinFront(Front& front) const override {
    if (front.cut() || front.projection != nullptr) return false;
    if (!filter_.matches_everything()) front.matches.push_back(specification_);
    return true;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    for (;;) {
      BRAID_TRY(const bool more, input().Next(context, document));
      if (!more) return false;
      BRAID_TRY(const bool met, filter_.Matches(*document));
      if (met) return true;
    }
  }

 private:
  const bson::Document specification_;
  const Filter filter_;
};

}  // namespace

Status ParseMatch(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject))
    return {Location(15959), "the match filter must be an expression in an object"};
  BRAID_TRY(Filter filter, Filter::Parse(specification.AsView(), parser.environment()));
  parser.stages.push_back(std::make_unique<Match>(name, specification, std::move(filter)));
  return {};
}

}  // namespace braid::query::pipeline
