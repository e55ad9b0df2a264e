// Takes filters apart; implication between conditions on the same path, and through $and and $or.
#include "engine/exec/plan/conditions.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/exec/plan/interval.h"

namespace braid::query::plan {
namespace {

// Only conditions that require the field: for elements without it (or that are arrays themselves) index entries and
// $elemMatch see different values.
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

using bson::Type;
using bson::Value;

struct Comparer {
  bool same_collation;
  const bson::Collation* collation;

  // Does a value equal to `a` (or above / below it) always meet `op b`? Only for values that compare by plain order.
  bool Comparable(const Value& a, const Value& b) const {
    const auto plain = [this](const Value& v) {
      const bool nan = v.IsNumber() && bson::Number::Of(v).IsNaN();
      return !nan && !v.IsNullish() && !v.Is(Type::kArray) && !v.Is(Type::kMinKey) && !v.Is(Type::kMaxKey) &&
             !v.Is(Type::kRegex) && (same_collation || !IsCollatable(v));
    };
    return plain(a) && plain(b) && bson::CanonicalType(a.type()) == bson::CanonicalType(b.type());
  }

  bool Meets(const Value& value, MatchOp op, const Value& operand) const {
    if (!Comparable(value, operand)) return false;
    const int order = bson::Compare(value, operand, collation);
    switch (op) {
      case MatchOp::kEq: return order == 0;
      case MatchOp::kLt: return order < 0;
      case MatchOp::kLte: return order <= 0;
      case MatchOp::kGt: return order > 0;
      case MatchOp::kGte: return order >= 0;
      default: return false;
    }
  }

  bool EqualityMeets(const Value& value, const MatchNode& partial) const {
    if (partial.op() != MatchOp::kIn) return Meets(value, partial.op(), partial.operand());
    for (const bson::Element& member : partial.operand().AsView()) {
      if (Meets(value, MatchOp::kEq, member.value)) return true;
    }
    return false;
  }

  // An open or closed ray lies within another of the same direction.
  bool RangeWithin(const MatchNode& query, const MatchNode& partial) const {
    const auto upwards = [](MatchOp op) { return op == MatchOp::kGt || op == MatchOp::kGte; };
    const auto downwards = [](MatchOp op) { return op == MatchOp::kLt || op == MatchOp::kLte; };
    const MatchOp q = query.op();
    const MatchOp p = partial.op();
    if (!(upwards(q) && upwards(p)) && !(downwards(q) && downwards(p))) return false;
    if (!Comparable(query.operand(), partial.operand())) return false;
    const int order = bson::Compare(query.operand(), partial.operand(), collation) * (upwards(p) ? 1 : -1);
    const bool strict_query = q == MatchOp::kGt || q == MatchOp::kLt;
    const bool strict_partial = p == MatchOp::kGt || p == MatchOp::kLt;
    return order > 0 || (order == 0 && (strict_query || !strict_partial));
  }

  bool LeafImplies(const MatchNode& query, const MatchNode& partial) const {
    if (query.path().empty() || query.path() != partial.path()) return false;
    if (partial.op() == MatchOp::kExists) return ExcludesMissing(query);
    const bool safe = same_collation || !IsCollatable(query.operand());
    if (query.op() == partial.op() && !query.operand().missing() && safe &&
        query.operand().Identical(partial.operand())) {
      return query.children().empty() && partial.children().empty();
    }
    if (query.op() == MatchOp::kEq) return EqualityMeets(query.operand(), partial);
    if (query.op() == MatchOp::kIn && query.children().empty()) {
      for (const bson::Element& member : query.operand().AsView()) {
        if (!EqualityMeets(member.value, partial)) return false;
      }
      return true;
    }
    return RangeWithin(query, partial);
  }
};

}  // namespace

bool ExcludesMissing(const MatchNode& node) {
  switch (node.op()) {
    case MatchOp::kEq: return !node.operand().IsNullish();
    case MatchOp::kLt:
    case MatchOp::kLte:
    case MatchOp::kGt:
    case MatchOp::kGte:
      return !node.operand().IsNullish() && !node.operand().Is(Type::kMinKey) && !node.operand().Is(Type::kMaxKey);
    case MatchOp::kIn:
      for (const bson::Element& member : node.operand().AsView()) {
        if (member.value.IsNullish()) return false;
      }
      return true;
    case MatchOp::kNot: {
      // {$ne: null}. Not below another field: an array of plain values has nothing there, and matches.
      const MatchNode& child = *node.children().front();
      return child.op() == MatchOp::kEq && child.operand().Is(Type::kNull) &&
             child.path().find('.') == std::string_view::npos;
    }
    case MatchOp::kRegex:
    case MatchOp::kMod:
    case MatchOp::kExists:
    case MatchOp::kType:
    case MatchOp::kSize:
    case MatchOp::kElemMatchObject:
    case MatchOp::kElemMatchValue: return true;
    default: return false;
  }
}

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

bool Implies(const MatchNode& query, const MatchNode& partial, bool same_collation, const bson::Collation* collation) {
  const auto implied_by = [&](const auto& child) { return Implies(*child, partial, same_collation, collation); };
  const auto implies = [&](const auto& child) { return Implies(query, *child, same_collation, collation); };
  if (partial.op() == MatchOp::kAlwaysTrue || query.op() == MatchOp::kAlwaysFalse) return true;
  if (partial.op() == MatchOp::kAnd) return std::ranges::all_of(partial.children(), implies);
  if (query.op() == MatchOp::kOr) return std::ranges::all_of(query.children(), implied_by);
  if (partial.op() == MatchOp::kOr && std::ranges::any_of(partial.children(), implies)) return true;
  if (query.op() == MatchOp::kAnd) return std::ranges::any_of(query.children(), implied_by);
  return Comparer{same_collation, collation}.LeafImplies(query, partial);
}

}  // namespace braid::query::plan
