// The language of $addFields and $set: {path: expression, …} or, nested, {field: {field: expression}}.

#include "base/strings.h"
#include "engine/language/project/projection_node.h"

namespace braid::query {
namespace {

/// Checks all paths first and parses the expressions after: so does MongoDB, and its codes depend on it.
class AddFieldsParser {
 public:
  explicit AddFieldsParser(ProjectionPlan* plan) : plan_(*plan) {}

  Status Run(bson::View specification) {
    for (const bson::Element& element : specification) BRAID_CHECK_OK(Field(std::string(element.name), element.value));
    for (auto& [leaf, value] : pending_) {
      BRAID_TRY(leaf->expression, ParseExpression(value, *plan_.environment));
    }
    return {};
  }

 private:
  Status Field(const std::string& path, const bson::Value& value) {
    BRAID_CHECK_OK(CheckProjectionPath(path));
    if (!value.Is(bson::Type::kObject) || value.AsView().empty()) return Leaf(path, value);
    const bson::View object = value.AsView();
    for (const bson::Element& element : object) {
      if (element.name.starts_with('$')) {
        if (object.Count() == 1) return Leaf(path, value);
        return {Location(40181),
                StrCat("an expression is an object with one field, the operator; '", path, "' has ", object.Count())};
      }
      if (element.name.find('.') != std::string_view::npos) {
        return {Location(40183), StrCat("the field name '", element.name, "' below '", path, "' must not have a dot")};
      }
      BRAID_CHECK_OK(Field(StrCat(path, ".", element.name), element.value));
    }
    return {};
  }

  Status Leaf(const std::string& path, const bson::Value& value) {
    auto leaf = MakeLeaf(ProjectionNode::Kind::kComputed);
    pending_.emplace_back(leaf.get(), value);
    if (plan_.root.Add(path, std::move(leaf)).ok()) return {};
    return {Location(40176), StrCat("the path '", path, "' or a part of it is set twice")};
  }

  ProjectionPlan& plan_;
  std::vector<std::pair<ProjectionNode*, bson::Value>> pending_;
};

}  // namespace

Result<ProjectionPlan> ParseAddFields(bson::View specification, std::shared_ptr<const Environment> environment) {
  ProjectionPlan plan{.mode = ProjectionPlan::Mode::kAddition, .environment = std::move(environment)};
  BRAID_CHECK_OK(AddFieldsParser(&plan).Run(specification));
  return plan;
}

}  // namespace braid::query
