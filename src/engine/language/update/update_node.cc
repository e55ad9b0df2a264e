#include "engine/language/update/update_node.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/language/update/storage_rules.h"

namespace braid::update {
namespace {

Status Conflict(std::string_view path, std::string_view at) {
  return {Code::kConflictingUpdateOperators,
          StrCat("Updating the path '", path, "' would create a conflict at '", at, "'")};
}

/// Some path below the node, for messages.
const std::string& PathBelow(const Node& node) {
  if (node.operation != nullptr) return node.operation->path();
  return PathBelow(node.positional != nullptr ? *node.positional : *node.children.front().node);
}

std::string Join(const std::string& path, std::string_view part) {
  return path.empty() ? std::string(part) : StrCat(path, ".", part);
}

}  // namespace

std::optional<uint64_t> ArrayIndex(std::string_view name) {
  if (name.empty() || name.size() > 18) return std::nullopt;
  uint64_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

bool FieldOrder(std::string_view a, std::string_view b) {
  const std::optional<uint64_t> x = ArrayIndex(a);
  const std::optional<uint64_t> y = ArrayIndex(b);
  if (x.has_value() != y.has_value()) return x.has_value();
  if (x.has_value() && *x != *y) return *x < *y;
  return a < b;
}

std::optional<std::string_view> ElementsIdentifier(std::string_view component) {
  if (component.size() < 3 || !component.starts_with("$[") || !component.ends_with("]")) return std::nullopt;
  return component.substr(2, component.size() - 3);
}

const Node::Child* Node::Find(std::string_view name) const {
  constexpr size_t kFewChildren = 8;
  if (children.size() <= kFewChildren) {
    for (const Child& child : children) {
      if (child.name == name) return &child;
    }
    return nullptr;
  }
  const auto at =
      std::lower_bound(children.begin(), children.end(), name,
                       [](const Child& child, std::string_view key) { return FieldOrder(child.name, key); });
  return at != children.end() && at->name == name ? &*at : nullptr;
}

Status CheckPath(std::string_view path) {
  if (path.empty()) return {Code::kEmptyFieldName, "An update path must not be empty"};
  BRAID_CHECK_OK(bson::CheckPathLength(path));
  int positional = 0;
  size_t at = 0;
  for (const std::string_view part : Split(path, '.')) {
    const bool first = at++ == 0;
    if (part.empty()) return {Code::kEmptyFieldName, StrCat("The update path '", path, "' has an empty part")};
    if (part.front() != '$') continue;
    if (part == "$" || ElementsIdentifier(part).has_value()) {
      if (first)
        return {Code::kBadValue, StrCat("The path '", path, "' must not begin with the positional '", part, "'")};
      if (part == "$" && ++positional > 1)
        return {Code::kBadValue, StrCat("The path '", path, "' has more than one '$'")};
    }
  }
  return {};
}

struct TreeBuilder::Growing {
  struct Less {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return FieldOrder(a, b); }
  };
  std::optional<Node::Kind> kind;  // none: nothing leads here yet
  OperationPtr operation;
  std::map<std::string, std::unique_ptr<Growing>, Less> children;
  std::unique_ptr<Growing> positional;

  /// Whether a node of this kind may be here.
  bool Becomes(Node::Kind wanted) {
    if (kind.has_value() && (*kind != wanted || wanted == Node::Kind::kLeaf)) return false;
    kind = wanted;
    return true;
  }
  std::shared_ptr<const Node> Finish() const {
    BRAID_ASSERT(kind.has_value() && (*kind == Node::Kind::kLeaf) == (operation != nullptr));
    auto node = std::make_shared<Node>();
    node->kind = *kind;
    node->operation = operation;
    node->children.reserve(children.size());
    for (const auto& [name, child] : children) node->children.push_back({name, child->Finish()});
    if (positional != nullptr) node->positional = positional->Finish();
    return node;
  }
};

TreeBuilder::TreeBuilder() : root_(std::make_unique<Growing>()) {}
TreeBuilder::~TreeBuilder() = default;

Status TreeBuilder::Add(std::string_view path, OperationPtr operation) {
  Growing* node = root_.get();
  std::string at;
  for (const std::string_view part : Split(path, '.')) {
    const auto identifier = ElementsIdentifier(part);
    if (!node->Becomes(identifier ? Node::Kind::kElements : Node::Kind::kFields)) return Conflict(path, at);
    const std::string_view name = identifier.value_or(part);
    auto place = node->children.find(name);
    if (part != "$" && place == node->children.end()) place = node->children.try_emplace(std::string(name)).first;
    std::unique_ptr<Growing>& child = part == "$" ? node->positional : place->second;
    if (child == nullptr) child = std::make_unique<Growing>();
    node = child.get();
    at = Join(at, part);
  }
  if (!node->Becomes(Node::Kind::kLeaf)) return Conflict(path, at);
  node->operation = std::move(operation);
  return {};
}

std::shared_ptr<const Node> TreeBuilder::Finish() const { return root_->kind.has_value() ? root_->Finish() : nullptr; }

Result<std::shared_ptr<const Node>> Merge(const std::shared_ptr<const Node>& a, const std::shared_ptr<const Node>& b,
                                          const std::string& path) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (a->kind != b->kind || a->kind == Node::Kind::kLeaf) return Conflict(PathBelow(*b), path);
  auto merged = std::make_shared<Node>();
  merged->kind = a->kind;
  auto x = a->children.begin();
  auto y = b->children.begin();
  while (x != a->children.end() || y != b->children.end()) {
    if (y == b->children.end() || (x != a->children.end() && FieldOrder(x->name, y->name))) {
      merged->children.push_back(*x++);
    } else if (x == a->children.end() || FieldOrder(y->name, x->name)) {
      merged->children.push_back(*y++);
    } else {
      const std::string below = Join(path, a->kind == Node::Kind::kElements ? StrCat("$[", x->name, "]") : x->name);
      BRAID_TRY(std::shared_ptr<const Node> both, Merge(x->node, y->node, below));
      merged->children.push_back({x->name, std::move(both)});
      ++x, ++y;
    }
  }
  BRAID_TRY(merged->positional, Merge(a->positional, b->positional, Join(path, "$")));
  return std::shared_ptr<const Node>(std::move(merged));
}

}  // namespace braid::update
