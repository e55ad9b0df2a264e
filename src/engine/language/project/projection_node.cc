// Paths as projections accept them, and the tree that is made of them.
#include "engine/language/project/projection_node.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/validate.h"

namespace braid::query {
namespace {

// The fields of a DBRef and of the server's own metadata: the only ones with a dollar sign that a path may name.
// Sorted.
constexpr std::array<std::string_view, 7> kDollarNames = {
    "$db", "$id", "$recordId", "$ref", "$searchScore", "$searchSortValues", "$sortKey",
};

Status CheckComponent(std::string_view component, std::string_view path) {
  if (component.empty()) return {Location(15998), StrCat("the path '", path, "' has an empty field name")};
  if (component.front() == '$' && !std::ranges::binary_search(kDollarNames, component)) {
    return {Location(16410), StrCat("the field name '", component, "' in the path '", path, "' starts with '$'")};
  }
  if (component.find('\0') != std::string_view::npos)
    return {Location(16411), "a field name in a path contains a NUL byte"};
  return {};
}

Status CollisionOf(std::string_view path) {
  return {Location(31250), StrCat("the projection names '", path, "' or a part of it twice")};
}

Status CollisionAt(std::string_view path, std::string_view rest) {
  return {Location(31249),
          StrCat("the projection goes on to '", path, "', but what is before '", rest, "' is projected as a whole")};
}

}  // namespace

Status CheckProjectionPath(std::string_view path) {
  if (path.empty()) return {Location(40352), "a field path must not be empty"};
  if (path.back() == '.') return {Location(40353), StrCat("the field path '", path, "' ends with a dot")};
  BRAID_CHECK_OK(bson::CheckPathLength(path));
  for (std::string_view rest = path; !rest.empty();) {
    BRAID_CHECK_OK(CheckComponent(TakeComponent(&rest), path));
  }
  return {};
}

ProjectionNode* ProjectionNode::Child(std::string_view child_name) const {
  const auto found = by_name.find(child_name);
  return found == by_name.end() ? nullptr : found->second;
}

Status ProjectionNode::Add(std::string_view path, std::unique_ptr<ProjectionNode> leaf) {
  ProjectionNode* node = this;
  std::string_view rest = path;
  while (true) {
    const std::string_view name_here = TakeComponent(&rest);
    ProjectionNode* child = node->Child(name_here);
    if (rest.empty()) {
      if (child != nullptr) return CollisionOf(path);
      BRAID_ASSERT(leaf != nullptr && leaf->children.empty());
      leaf->name = name_here;
      node->by_name.emplace(leaf->name, leaf.get());
      node->children.push_back(std::move(leaf));
      return {};
    }
    if (child == nullptr) {
      child = node->children.emplace_back(std::make_unique<ProjectionNode>()).get();
      child->name = name_here;
      node->by_name.emplace(child->name, child);
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
  by_name.erase(child_name);
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
