// $replaceRoot and $replaceWith: replace each document by another one.
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {
namespace {

class ReplaceRoot final : public Stage {
 public:
  ReplaceRoot(std::string_view name, const bson::Value& specification, ExpressionPtr root,
              std::shared_ptr<const Environment> environment)
      : Stage(name, specification), root_(std::move(root)), environment_(std::move(environment)) {}

  Needs CollectPaths(std::set<std::string>* paths) const override {
    root_->CollectPaths(paths);
    return Needs::kOnly;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    BRAID_TRY(const bool more, input().Next(context, document));
    if (!more) return false;
    arena_.Clear();
    BRAID_TRY(const bson::Value root, Evaluate(*root_, *document, *environment_, arena_));
    if (!root.Is(bson::Type::kObject)) {
      return Status(Location(40228),
                    StrCat("'newRoot' expression must evaluate to an object, but resulting value was: ",
                           root.missing() ? "MISSING" : bson::ToShell(root), ". Type of resulting value: '",
                           bson::TypeName(root.type()), "'. Input document: ", bson::ToShell(*document)));
    }
    *document = root.AsView();
    return true;
  }

 private:
  const ExpressionPtr root_;
  const std::shared_ptr<const Environment> environment_;
  bson::Arena arena_{bson::Arena::Use::kQuery};
};

Status Add(StageParser& parser, std::string_view name, const bson::Value& specification, const bson::Value& root) {
  BRAID_TRY(ExpressionPtr parsed, ParseExpression(root, *parser.environment()));
  parser.stages.push_back(std::make_unique<ReplaceRoot>(name, specification, std::move(parsed), parser.environment()));
  return {};
}

}  // namespace

Status ParseReplaceWith(StageParser& parser, std::string_view name, const bson::Value& specification) {
  return Add(parser, name, specification, specification);
}

Status ParseReplaceRoot(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kObject)) {
    return {Location(40229), StrCat("expected an object as specification for $replaceRoot stage, got ",
                                    bson::TypeName(specification.type()))};
  }
  for (const bson::Element& field : specification.AsView()) {
    if (field.name != "newRoot")
      return {Location(40415), StrCat("BSON field '$replaceRoot.", field.name, "' is an unknown field.")};
  }
  const bson::Value root = specification.AsView().Find("newRoot");
  if (root.missing()) return {Location(40414), "BSON field '$replaceRoot.newRoot' is missing but a required field"};
  return Add(parser, name, specification, root);
}

}  // namespace braid::query::pipeline
