// $and, $or, $nor, $not, and the constants they simplify to.
#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/builder.h"
#include "engine/bson/number.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Value;

class ConstantNode final : public MatchNode {
 public:
  explicit ConstantNode(bool value) : MatchNode(value ? MatchOp::kAlwaysTrue : MatchOp::kAlwaysFalse) {}
  Result<bool> Matches(bson::View, MatchDetails*) const override { return op() == MatchOp::kAlwaysTrue; }
  Result<bool> MatchesElement(const Value&) const override { return op() == MatchOp::kAlwaysTrue; }
  void AppendTo(bson::Builder& out) const override {
    if (op() == MatchOp::kAlwaysFalse) out.Append("$alwaysFalse", 1);
  }
  void AppendCondition(bson::Builder& out) const override { AppendTo(out); }
};

// The common base of the nodes with a list of children. `Ask` is called for each child: Matches or MatchesElement.
class ListNode : public MatchNode {
 public:
  ListNode(MatchOp op, std::string_view name, NodeList children)
      : MatchNode(op), name_(name), children_(std::move(children)) {}
  const NodeList& children() const final { return children_; }
  void AppendTo(bson::Builder& out) const final {
    out.OpenArray(name_);
    for (const NodePtr& child : children_) {
      out.OpenNextObject();
      child->AppendTo(out);
      out.Close();
    }
    out.Close();
  }
  void AppendCondition(bson::Builder& out) const final {
    for (const NodePtr& child : children_) child->AppendCondition(out);
  }

 protected:
  // True if some child answers `wanted`.
  template <typename Ask>
  Result<bool> Any(bool wanted, Ask&& ask) const {
    Work* const work = children_.size() > kFew ? &Work::Current() : nullptr;
    for (const NodePtr& child : children_) {
      if (work != nullptr) BRAID_CHECK_OK(work->Tick(kStepsOfChild));
      Result<bool> answer = ask(*child);
      if (!answer.ok() || *answer == wanted) return answer.ok() ? Result<bool>(true) : answer;
    }
    return false;
  }

 private:
  static constexpr size_t kFew = 16;            // few enough children that no Tick() is needed
  static constexpr size_t kStepsOfChild = 128;  // each may read the whole document
  std::string_view name_;
  NodeList children_;
};

Result<bool> Negated(Result<bool> answer) {
  if (answer.ok()) return !*answer;
  return answer;
}

class AndNode final : public ListNode {
 public:
  explicit AndNode(NodeList children) : ListNode(MatchOp::kAnd, "$and", std::move(children)) {}
  Result<bool> Matches(bson::View document, MatchDetails* details) const override {
    Result<bool> answer = Negated(Any(false, [&](const MatchNode& child) { return child.Matches(document, details); }));
    if (details != nullptr && answer.ok() && !*answer) details->array_index = -1;
    return answer;
  }
  Result<bool> MatchesElement(const Value& element) const override {
    return Negated(Any(false, [&](const MatchNode& child) { return child.MatchesElement(element); }));
  }
};

// $or and $nor do not report which element of an array matched: another branch might give another one.
class OrNode final : public ListNode {
 public:
  explicit OrNode(NodeList children) : ListNode(MatchOp::kOr, "$or", std::move(children)) {}
  Result<bool> Matches(bson::View document, MatchDetails*) const override {
    return Any(true, [&](const MatchNode& child) { return child.Matches(document, nullptr); });
  }
  Result<bool> MatchesElement(const Value& element) const override {
    return Any(true, [&](const MatchNode& child) { return child.MatchesElement(element); });
  }
};

class NorNode final : public ListNode {
 public:
  explicit NorNode(NodeList children) : ListNode(MatchOp::kNor, "$nor", std::move(children)) {}
  Result<bool> Matches(bson::View document, MatchDetails*) const override {
    return Negated(Any(true, [&](const MatchNode& child) { return child.Matches(document, nullptr); }));
  }
  Result<bool> MatchesElement(const Value& element) const override {
    return Negated(Any(true, [&](const MatchNode& child) { return child.MatchesElement(element); }));
  }
};

class NotNode final : public MatchNode {
 public:
  NotNode(std::string_view path, NodePtr child) : MatchNode(MatchOp::kNot), condition_path_(path) {
    children_.push_back(std::move(child));
  }
  const NodeList& children() const override { return children_; }
  Result<bool> Matches(bson::View document, MatchDetails*) const override {
    return Negated(children_.front()->Matches(document, nullptr));
  }
  Result<bool> MatchesElement(const Value& element) const override {
    return Negated(children_.front()->MatchesElement(element));
  }
  void AppendTo(bson::Builder& out) const override {
    if (children_.front()->op() ==
        MatchOp::kAnd) {  // its conditions might repeat an operator: no document can show that
      out.OpenArray("$nor").OpenNextObject();
      children_.front()->AppendTo(out);
      out.Close().Close();
      return;
    }
    out.OpenObject(condition_path_);
    AppendCondition(out);
    out.Close();
  }
  void AppendCondition(bson::Builder& out) const override {
    out.OpenObject("$not");
    children_.front()->AppendCondition(out);
    out.Close();
  }

 private:
  std::string condition_path_;
  NodeList children_;
};

// Takes over the children, opening nested lists of the same operator.
NodeList Flatten(MatchOp op, NodeList children) {
  NodeList flat;
  for (NodePtr& child : children) {
    if (child->op() == op) {
      // No one else owns the node: its children move up before it is destroyed.
      for (const NodePtr& grandchild : child->children()) flat.push_back(std::move(const_cast<NodePtr&>(grandchild)));
    } else {
      flat.push_back(std::move(child));
    }
  }
  return flat;
}

// An $and is decided by one false child and indifferent to true ones; for $or the other way round.
template <typename Node>
NodePtr MakeList(MatchOp op, bool neutral, NodeList children) {
  const MatchOp indifferent = neutral ? MatchOp::kAlwaysTrue : MatchOp::kAlwaysFalse;
  const MatchOp decisive = neutral ? MatchOp::kAlwaysFalse : MatchOp::kAlwaysTrue;
  NodeList flat = Flatten(op, std::move(children));
  std::erase_if(flat, [&](const NodePtr& child) { return child->op() == indifferent; });
  for (const NodePtr& child : flat) {
    if (child->op() == decisive) return MakeConstant(!neutral);
  }
  if (flat.empty()) return MakeConstant(neutral);
  if (flat.size() == 1) return std::move(flat.front());
  return std::make_unique<Node>(std::move(flat));
}

}  // namespace

NodePtr MakeConstant(bool value) { return std::make_unique<ConstantNode>(value); }
NodePtr MakeAnd(NodeList children) { return MakeList<AndNode>(MatchOp::kAnd, true, std::move(children)); }
NodePtr MakeOr(NodeList children) { return MakeList<OrNode>(MatchOp::kOr, false, std::move(children)); }

NodePtr MakeNot(std::string_view path, NodePtr child) {
  if (child->op() == MatchOp::kAlwaysTrue) return MakeConstant(false);
  if (child->op() == MatchOp::kAlwaysFalse) return MakeConstant(true);
  return std::make_unique<NotNode>(path, std::move(child));
}

Result<NodePtr> ParseLogical(const OperatorCall& call) {
  if (!call.operand.Is(bson::Type::kArray)) return BadValue(StrCat(call.name, " must be an array"));
  const bson::View clauses = call.operand.AsView();
  if (clauses.empty()) return BadValue("$and/$or/$nor must be a nonempty array");
  NodeList children;
  for (const bson::Element& clause : clauses) {
    if (!clause.value.Is(bson::Type::kObject)) return BadValue("$or/$and/$nor entries need to be full objects");
    BRAID_TRY(NodePtr child, ParseDocument(clause.value.AsView(), call.context.Inside()));
    children.push_back(std::move(child));
  }
  if (call.name == "$and") return MakeAnd(std::move(children));
  if (call.name == "$or") return MakeOr(std::move(children));
  return NodePtr(std::make_unique<NorNode>(std::move(children)));
}

Result<NodePtr> ParseNot(const OperatorCall& call) {
  if (call.operand.Is(bson::Type::kRegex)) {
    BRAID_TRY(NodePtr regex, MakeRegex(call.path, call.operand.AsRegex()));
    return MakeNot(call.path, std::move(regex));
  }
  if (!call.operand.Is(bson::Type::kObject)) return BadValue("$not needs a regex or a document");
  if (call.operand.AsView().empty()) return BadValue("$not cannot be empty");
  BRAID_TRY(NodeList conditions, ParseConditions(call.path, call.operand.AsView(), call.context.Inside()));
  return MakeNot(call.path, MakeAnd(std::move(conditions)));
}

Result<NodePtr> ParseConstant(const OperatorCall& call) {
  const auto number = bson::NumberOf(call.operand);
  if (!number || number->ToInt64Exact() != 1) {
    return Status(Code::kFailedToParse, StrCat(call.name, " must be an integer value of 1"));
  }
  return MakeConstant(call.name == "$alwaysTrue");
}

// A remark for logs and profiles: any value, no effect.
Result<NodePtr> ParseComment(const OperatorCall&) { return NodePtr(); }

}  // namespace braid::query
