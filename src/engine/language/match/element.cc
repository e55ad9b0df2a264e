// $exists and $type: whether a field exists, and its type.
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/operands.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Value;

class ExistsNode final : public LeafNode<ExistsNode, Leaf::kWhole> {
 public:
  explicit ExistsNode(std::string_view path) : LeafNode(MatchOp::kExists, path) {}
  bool Test(const Value& value, Trial&) const { return !value.missing(); }
  void AppendCondition(bson::Builder& out) const override { out.Append("$exists", true); }
};

class TypeNode final : public LeafNode<TypeNode> {
 public:
  TypeNode(std::string_view path, TypeSet types, const Value& names)
      : LeafNode(MatchOp::kType, path), types_(types), names_(names) {}
  Value operand() const override { return names_.value(); }
  bool Test(const Value& value, Trial&) const { return types_.Has(value.type()); }
  void AppendCondition(bson::Builder& out) const override {
    if (operand().Is(bson::Type::kArray)) {
      out.Append("$type", names_);
    } else {
      out.OpenArray("$type").AppendNext(names_).Close();
    }
  }

 private:
  const TypeSet types_;
  const bson::OwnedValue names_;
};

}  // namespace

Result<NodePtr> ParseExists(const OperatorCall& call) {
  NodePtr exists = std::make_unique<ExistsNode>(call.path);
  return bson::IsTruthy(call.operand) ? std::move(exists) : MakeNot(call.path, std::move(exists));
}

Result<NodePtr> ParseType(const OperatorCall& call) {
  BRAID_TRY(const TypeSet types, TypeSet::Parse(call.operand));
  return NodePtr(std::make_unique<TypeNode>(call.path, types, call.operand));
}

}  // namespace braid::query
