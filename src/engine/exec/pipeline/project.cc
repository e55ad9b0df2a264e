// $project, $addFields (also called $set) and $unset: documents in another shape, field by field.
#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

using SharedProjection = std::shared_ptr<const Projection>;

class Reshape final : public Stage {
 public:
  Reshape(std::string_view name, const bson::Value& specification, SharedProjection projection)
      : Stage(name, specification), projection_(std::move(projection)) {
    if (name == "$project") project_ = bson::Document(specification.AsView());
  }

  bool JoinFront(Front& front) const override {
    if (project_.empty() || front.projection != nullptr) return false;
    front.projection = projection_;
    front.projection_spec = project_;
    return true;
  }

  Needs CollectPaths(std::set<std::string>* paths) const override {
    const std::set<std::string>* needed = projection_->needed_paths();
    if (needed == nullptr) return Needs::kWhole;
    paths->insert(needed->begin(), needed->end());
    return Needs::kOnly;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    BRAID_TRY(const bool more, input().Next(context, document));
    if (!more) return false;
    arena_.Clear();
    BRAID_TRY(output_, projection_->Apply(*document, arena_));
    BRAID_CHECK_OK(held_.Set(output_.view().size()));
    *document = output_;
    return true;
  }

 private:
  const SharedProjection projection_;
  bson::Document project_;  // of a $project, which the planner can do; else empty
  bson::Arena arena_{bson::Arena::Use::kQuery};
  bson::Document output_;
  HeldMemory held_;  // what output_ takes
};

Status Add(StageParser& parser, std::string_view name, const bson::Value& specification,
           Result<std::unique_ptr<const Projection>> projection) {
  if (!projection.ok()) return projection.error().CausedBy(StrCat("Invalid ", name));
  parser.stages.push_back(std::make_unique<Reshape>(name, specification, *std::move(projection)));
  return {};
}

}  // namespace

Status ParseProject(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject)) return {Location(15969), "$project specification must be an object"};
  return Add(parser, name, specification,
             Projection::Parse(specification.AsView(), Projection::Use::kProject, nullptr, parser.environment()));
}

Status ParseAddFields(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject)) {
    return {Location(40272),
            StrCat(name, " specification stage must be an object, got ", bson::TypeName(specification.type()))};
  }
  return Add(parser, name, specification,
             Projection::Parse(specification.AsView(), Projection::Use::kAddFields, nullptr, parser.environment()));
}

Status ParseUnset(StageParser& parser, std::string_view name, const bson::Value& specification) {
  return Add(parser, name, specification, Projection::ParseUnset(specification, parser.environment()));
}

}  // namespace braid::query::pipeline
