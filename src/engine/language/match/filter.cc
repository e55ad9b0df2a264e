#include "engine/language/match/filter.h"

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

std::shared_ptr<const Environment> OrDefault(std::shared_ptr<const Environment> environment) {
  static const auto kDefault = std::make_shared<const Environment>();
  if (environment == nullptr) return kDefault;
  return environment;
}

// The tree together with the environment its nodes point into.
struct Rooted {
  std::shared_ptr<const Environment> environment;
  NodePtr root;
};

std::shared_ptr<const MatchNode> Share(std::shared_ptr<const Environment> environment, NodePtr root) {
  auto rooted = std::make_shared<const Rooted>(Rooted{std::move(environment), std::move(root)});
  return {rooted, rooted->root.get()};
}

// A condition on an element; it is evaluated on the element itself, never on a document around it.
class ElementNode : public MatchNode {
 public:
  explicit ElementNode(MatchOp op) : MatchNode(op) {}
  Result<bool> Matches(bson::View document, MatchDetails*) const final { return MatchesElement(Value(document)); }
  void AppendTo(bson::Builder& out) const final { AppendCondition(out); }
};

// 5, null, [1, 2]: exactly this value, not an array that contains it.
class ElementEqualNode final : public ElementNode {
 public:
  ElementEqualNode(const Value& operand, const bson::Collation* collation)
      : ElementNode(MatchOp::kEq), operand_(operand), collation_(collation) {}
  Value operand() const override { return operand_; }
  Result<bool> MatchesElement(const Value& element) const override {
    return !element.missing() && bson::Equal(element, operand_, collation_);
  }
  void AppendCondition(bson::Builder& out) const override { out.Append("$eq", operand_); }

 private:
  const bson::OwnedValue operand_;
  const bson::Collation* const collation_;
};

// {a: 1, b: 2}: the element is a document that the filter matches.
class ElementDocumentNode final : public ElementNode {
 public:
  explicit ElementDocumentNode(NodePtr filter) : ElementNode(MatchOp::kAnd) { children_.push_back(std::move(filter)); }
  const NodeList& children() const override { return children_; }
  Result<bool> MatchesElement(const Value& element) const override {
    if (!element.Is(Type::kObject)) return false;
    return children_.front()->Matches(element.AsView(), nullptr);
  }
  void AppendCondition(bson::Builder& out) const override { children_.front()->AppendTo(out); }

 private:
  NodeList children_;
};

// {$gt: 5} or a regex: as if the element were the field "" of a document, so that an element that is an array is
// entered.
class ElementFieldNode final : public ElementNode {
 public:
  explicit ElementFieldNode(NodePtr predicate) : ElementNode(MatchOp::kAnd) {
    children_.push_back(std::move(predicate));
  }
  const NodeList& children() const override { return children_; }
  Result<bool> MatchesElement(const Value& element) const override {
    if (!element.Is(Type::kArray)) return children_.front()->MatchesElement(element);
    return children_.front()->Matches(bson::Make("", element), nullptr);
  }
  void AppendCondition(bson::Builder& out) const override { children_.front()->AppendCondition(out); }

 private:
  NodeList children_;
};

Result<NodePtr> ParseElementCondition(const Value& condition, const ParseContext& context) {
  const bool object = condition.Is(Type::kObject);
  const bool operators = object && !condition.AsView().empty() && IsPathOperator(condition.AsView().begin()->name);
  if (operators || condition.Is(Type::kRegex)) {
    BRAID_TRY(NodePtr predicate, ParsePredicate({}, condition, context));
    return NodePtr(std::make_unique<ElementFieldNode>(std::move(predicate)));
  }
  if (object) {
    BRAID_TRY(NodePtr filter, ParseDocument(condition.AsView(), context));
    return NodePtr(std::make_unique<ElementDocumentNode>(std::move(filter)));
  }
  return NodePtr(std::make_unique<ElementEqualNode>(condition, context.collation()));
}

}  // namespace

Filter::Filter() {
  static const std::shared_ptr<const MatchNode> kEverything = MakeConstant(true);
  root_ = kEverything;
}

Result<Filter> Filter::Parse(bson::View specification, std::shared_ptr<const Environment> environment) {
  Filter filter;
  environment = OrDefault(std::move(environment));
  BRAID_TRY(NodePtr root, ParseDocument(specification, ParseContext{*environment}));
  filter.root_ = Share(std::move(environment), std::move(root));
  return filter;
}

Result<Filter> Filter::ParseElement(const Value& condition, std::shared_ptr<const Environment> environment) {
  Filter filter;
  environment = OrDefault(std::move(environment));
  BRAID_TRY(NodePtr root, ParseElementCondition(condition, ParseContext{*environment}));
  filter.root_ = Share(std::move(environment), std::move(root));
  return filter;
}

bson::Document Filter::ToBson() const {
  bson::Builder out;
  root_->AppendTo(out);
  return out.Finish();
}

}  // namespace braid::query
