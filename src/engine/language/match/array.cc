// $all, $elemMatch, $size: conditions on arrays.
#include "base/strings.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/operands.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

// The common part of both forms of $elemMatch: the search for the first element that meets the conditions.
template <typename Derived>
class ElemMatchNode : public LeafNode<Derived, Leaf::kWhole> {
 public:
  ElemMatchNode(MatchOp op, std::string_view path, NodeList children)
      : LeafNode<Derived, Leaf::kWhole>(op, path), children_(std::move(children)) {}
  const NodeList& children() const final { return children_; }

  bool Test(const Value& value, Trial& trial) const {
    if (!value.Is(Type::kArray)) return false;
    int index = 0;
    for (const bson::Element& element : value.AsView()) {
      Result<bool> meets = static_cast<const Derived&>(*this).Meets(element.value);
      if (!meets.ok()) {
        trial.error = meets.error();
        return true;
      }
      if (*meets) {
        if (trial.details != nullptr) trial.details->array_index = index;
        return true;
      }
      ++index;
    }
    return false;
  }

 protected:
  const NodeList children_;
};

class ElemMatchObjectNode final : public ElemMatchNode<ElemMatchObjectNode> {
 public:
  using ElemMatchNode::ElemMatchNode;
  Result<bool> Meets(const Value& element) const {
    if (!element.Is(Type::kObject) && !element.Is(Type::kArray)) return false;
    return children_.front()->Matches(element.AsView(), nullptr);
  }
  void AppendCondition(bson::Builder& out) const override {
    out.OpenObject("$elemMatch");
    children_.front()->AppendTo(out);
    out.Close();
  }
};

class ElemMatchValueNode final : public ElemMatchNode<ElemMatchValueNode> {
 public:
  using ElemMatchNode::ElemMatchNode;
  Result<bool> Meets(const Value& element) const {
    for (const NodePtr& condition : children_) {
      Result<bool> meets = condition->MatchesElement(element);
      if (!meets.ok() || !*meets) return meets;
    }
    return true;
  }
  void AppendCondition(bson::Builder& out) const override {
    out.OpenObject("$elemMatch");
    for (const NodePtr& condition : children_) condition->AppendCondition(out);
    out.Close();
  }
};

class SizeNode final : public LeafNode<SizeNode, Leaf::kWhole> {
 public:
  SizeNode(std::string_view path, int64_t size) : LeafNode(MatchOp::kSize, path), size_(size) {}
  bool Test(const Value& value, Trial&) const {
    return value.Is(Type::kArray) && static_cast<int64_t>(value.AsView().Count()) == size_;
  }
  void AppendCondition(bson::Builder& out) const override { out.Append("$size", size_); }

 private:
  const int64_t size_;
};

// {$gt: 5} is a condition on the element; {$or: […]} and {a: 1} are filters over it as a document.
bool IsValueForm(const Value& condition) {
  return condition.Is(Type::kObject) && !condition.AsView().empty() && IsPathOperator(condition.AsView().begin()->name);
}

bool IsElemMatch(const Value& value) {
  return value.Is(Type::kObject) && !value.AsView().empty() && value.AsView().begin()->name == "$elemMatch";
}

Result<NodePtr> MakeElemMatch(std::string_view path, const Value& operand, const ParseContext& context) {
  if (!operand.Is(Type::kObject)) return BadValue("$elemMatch needs an Object");
  const ParseContext inside = context.InsideElement();
  if (IsValueForm(operand)) {
    BRAID_TRY(NodeList conditions, ParseConditions({}, operand.AsView(), inside));
    return NodePtr(std::make_unique<ElemMatchValueNode>(MatchOp::kElemMatchValue, path, std::move(conditions)));
  }
  NodeList filter;
  BRAID_TRY(NodePtr root, ParseDocument(operand.AsView(), inside));
  filter.push_back(std::move(root));
  return NodePtr(std::make_unique<ElemMatchObjectNode>(MatchOp::kElemMatchObject, path, std::move(filter)));
}

}  // namespace

Result<NodePtr> ParseElemMatch(const OperatorCall& call) {
  return MakeElemMatch(call.path, call.operand, call.context);
}

Result<NodePtr> ParseAll(const OperatorCall& call) {
  if (!call.operand.Is(Type::kArray)) return BadValue("$all needs an array");
  const bson::View members = call.operand.AsView();
  if (members.empty()) return MakeConstant(false);
  const bool elem_match = IsElemMatch(members.begin()->value);
  NodeList children;
  for (const bson::Element& member : members) {
    NodePtr child;
    if (elem_match) {
      if (!IsElemMatch(member.value)) return BadValue("$all/$elemMatch has to be consistent");
      BRAID_TRY(child, MakeElemMatch(call.path, member.value.AsView().begin()->value, call.context.Inside()));
    } else if (IsValueForm(member.value)) {
      return BadValue("no $ expressions in $all");
    } else if (member.value.Is(Type::kRegex)) {
      BRAID_TRY(child, MakeRegex(call.path, member.value.AsRegex()));
    } else {
      BRAID_TRY(child, MakeEquality(call.path, member.value, call.context));
    }
    children.push_back(std::move(child));
  }
  return MakeAnd(std::move(children));
}

Result<NodePtr> ParseSize(const OperatorCall& call) {
  Result<int64_t> size = NonNegativeInteger(call.name, call.operand);
  if (!size.ok()) return BadValue(StrCat("Failed to parse $size. ", size.error().message()));
  return NodePtr(std::make_unique<SizeNode>(call.path, *size));
}

}  // namespace braid::query
