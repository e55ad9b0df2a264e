// Takes filters apart.
#include "engine/query/plan/conditions.h"

#include "base/strings.h"
#include "engine/query/plan/bounds.h"

namespace braid::query::plan {
namespace {

// Only what an element that has the field can meet: for elements without it (or that are arrays themselves) index
// entries and $elemMatch see different things.
bool IsSafeInElement(const MatchNode& node) {
  return node.op() != MatchOp::kNot && node.op() != MatchOp::kExists && ExcludesMissing(node);
}

void AddElement(const MatchNode& node, size_t conjunct, const std::string& prefix, Conditions* out) {
  const std::string scope_path = StrCat(prefix, node.path());
  std::vector<const MatchNode*> pending;
  for (const auto& child : node.children()) pending.push_back(child.get());
  while (!pending.empty()) {
    const MatchNode& child = *pending.back();
    pending.pop_back();
    if (child.op() == MatchOp::kAnd) {
      for (const auto& grandchild : child.children()) pending.push_back(grandchild.get());
    } else if (child.op() == MatchOp::kElemMatchObject) {
      AddElement(child, conjunct, scope_path + ".", out);
    } else if (!child.path().empty() && IsSafeInElement(child)) {
      out->list.push_back({StrCat(scope_path, ".", child.path()), &child, conjunct, &node, scope_path});
    }
  }
}

}  // namespace

void Conditions::Add(const MatchNode& node) {
  if (node.op() == MatchOp::kAlwaysTrue) return;
  if (node.op() == MatchOp::kAnd) {
    for (const auto& child : node.children()) Add(*child);
    return;
  }
  const size_t conjunct = conjuncts.size();
  conjuncts.push_back(&node);
  if (node.op() == MatchOp::kElemMatchObject) {
    AddElement(node, conjunct, "", this);
  } else if (node.op() == MatchOp::kNot) {
    const MatchNode& child = *node.children().front();
    if (!child.path().empty()) list.push_back({std::string(child.path()), &node, conjunct, nullptr, {}});
  } else if (!node.path().empty()) {
    list.push_back({std::string(node.path()), &node, conjunct, nullptr, {}});
  }
}

Conditions Conditions::Of(const MatchNode& root) {
  Conditions conditions;
  conditions.Add(root);
  return conditions;
}

}  // namespace braid::query::plan
