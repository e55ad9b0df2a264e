// $eq, $ne, $gt, $gte, $lt, $lte: comparison within one type, except null, MinKey and MaxKey.
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

bool IsNaN(const Value& value) { return value.IsNumber() && bson::Number::Of(value).IsNaN(); }

class ComparisonNode final : public LeafNode<ComparisonNode> {
 public:
  ComparisonNode(MatchOp op, std::string_view path, const Value& operand, const bson::Collation* collation)
      : LeafNode(op, path),
        owned_(operand),
        operand_(owned_.value()),
        collation_(collation),
        canonical_(bson::CanonicalType(operand.type())),
        nan_(IsNaN(operand)) {}

  Value operand() const override { return operand_; }

  bool Test(const Value& value, Trial& /*trial*/) const {
    if (op() == MatchOp::kEq && value.type() == operand_.type() && value.bytes() == operand_.bytes()) return true;
    if (bson::CanonicalType(value.type()) != canonical_ || value.missing()) return TestAcrossTypes(value);
    if (value.IsNumber() && (nan_ || IsNaN(value))) return !Strict() && nan_ && IsNaN(value);
    return Holds(bson::Compare(value, operand_, collation_));
  }
  void AppendCondition(bson::Builder& out) const override { out.Append(Name(), operand_); }

 private:
  bool Strict() const { return op() == MatchOp::kLt || op() == MatchOp::kGt; }
  bool Holds(int order) const {
    switch (op()) {
      case MatchOp::kLt: return order < 0;
      case MatchOp::kLte: return order <= 0;
      case MatchOp::kGt: return order > 0;
      case MatchOp::kGte: return order >= 0;
      default: return order == 0;
    }
  }
  // Values of different types do not compare, except that null equals missing and all values lie between MinKey and
  // MaxKey.
  bool TestAcrossTypes(const Value& value) const {
    switch (operand_.type()) {
      case Type::kNull: return value.IsNullish() && !Strict();
      case Type::kMinKey: return op() == MatchOp::kGt || op() == MatchOp::kGte;
      case Type::kMaxKey: return op() == MatchOp::kLt || op() == MatchOp::kLte;
      default: return false;
    }
  }
  std::string_view Name() const {
    switch (op()) {
      case MatchOp::kLt: return "$lt";
      case MatchOp::kLte: return "$lte";
      case MatchOp::kGt: return "$gt";
      case MatchOp::kGte: return "$gte";
      default: return "$eq";
    }
  }

  const bson::OwnedValue owned_;
  const Value operand_;  // a view of owned_
  const bson::Collation* const collation_;
  const int canonical_;
  const bool nan_;
};

Result<NodePtr> MakeComparison(MatchOp op, std::string_view path, const Value& operand, const ParseContext& context) {
  if (operand.Is(Type::kUndefined)) return BadValue("cannot compare to undefined");
  return NodePtr(std::make_unique<ComparisonNode>(op, path, operand, context.collation()));
}

MatchOp ComparisonOf(std::string_view name) {
  if (name == "$gt") return MatchOp::kGt;
  if (name == "$gte") return MatchOp::kGte;
  if (name == "$lt") return MatchOp::kLt;
  if (name == "$lte") return MatchOp::kLte;
  return MatchOp::kEq;
}

}  // namespace

Result<NodePtr> MakeEquality(std::string_view path, const Value& operand, const ParseContext& context) {
  return MakeComparison(MatchOp::kEq, path, operand, context);
}

Result<NodePtr> ParseComparison(const OperatorCall& call) {
  const bool negated = call.name == "$ne";
  const MatchOp op = ComparisonOf(call.name);
  if (call.operand.Is(Type::kRegex) && (negated || op != MatchOp::kEq)) {
    return BadValue(negated ? std::string("Can't have regex as arg to $ne.")
                            : StrCat("Can't have RegEx as arg to predicate over field '", call.path, "'."));
  }
  BRAID_TRY(NodePtr node, MakeComparison(op, call.path, call.operand, call.context));
  return negated ? MakeNot(call.path, std::move(node)) : std::move(node);
}

}  // namespace braid::query
