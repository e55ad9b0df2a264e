#include "engine/query/project/projection_node.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/query/project/projection_path.h"

namespace braid::query {
namespace {

Status CollisionOf(std::string_view path) {
  return {Location(31250), StrCat("the projection names '", path, "' or a part of it twice")};
}

Status CollisionAt(std::string_view path, std::string_view rest) {
  return {Location(31249),
          StrCat("the projection goes on to '", path, "', but what is before '", rest, "' is projected as a whole")};
}

}  // namespace

ProjectionNode* ProjectionNode::Child(std::string_view child_name) const {
  for (const auto& child : children) {
    if (child->name == child_name) return child.get();
  }
  return nullptr;
}

Status ProjectionNode::Add(std::string_view path, std::unique_ptr<ProjectionNode> leaf) {
  ProjectionNode* node = this;
  std::string_view rest = path;
  while (true) {
    const std::string_view name_here = TakeComponent(&rest);
    ProjectionNode* child = node->Child(name_here);
    if (rest.empty()) {
      if (child != nullptr) return CollisionOf(path);
      leaf->name = name_here;
      node->children.push_back(std::move(leaf));
      return {};
    }
    if (child == nullptr) {
      child = node->children.emplace_back(std::make_unique<ProjectionNode>()).get();
      child->name = name_here;
    } else if (child->kind != Kind::kPath) {
      return CollisionAt(path, rest);
    }
    node = child;
  }
}

Result<ProjectionNode*> ProjectionNode::Inner(std::string_view path) {
  ProjectionNode* node = this;
  for (std::string_view rest = path; node != nullptr && !rest.empty();) {
    node = node->Child(TakeComponent(&rest));
    if (node != nullptr && node->kind != Kind::kPath) node = nullptr;
  }
  if (node != nullptr) return node;
  auto made = std::make_unique<ProjectionNode>();
  node = made.get();
  BRAID_CHECK_OK(Add(path, std::move(made)));
  return node;
}

void ProjectionNode::Remove(std::string_view child_name) {
  std::erase_if(children, [child_name](const auto& child) { return child->name == child_name; });
}

void ProjectionNode::Seal() {
  computes = kind == Kind::kComputed || kind == Kind::kElemMatch;
  positional = kind == Kind::kPositional;
  std::vector<std::string_view> names;
  for (const auto& child : children) {
    child->Seal();
    computes = computes || child->computes;
    positional = positional || child->positional;
    names.push_back(child->name);
  }
  index = FieldIndex(std::move(names));
}

std::unique_ptr<ProjectionNode> MakeLeaf(ProjectionNode::Kind kind) {
  auto leaf = std::make_unique<ProjectionNode>();
  leaf->kind = kind;
  return leaf;
}

std::unique_ptr<ProjectionNode> MakeComputed(ExpressionPtr expression) {
  auto leaf = MakeLeaf(ProjectionNode::Kind::kComputed);
  leaf->expression = std::move(expression);
  return leaf;
}

}  // namespace braid::query
