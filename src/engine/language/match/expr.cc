// $expr: an aggregation expression over the whole document; and $sampleRate, which is one.
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/number.h"
#include "engine/language/expression/expression.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Value;

class ExprNode final : public MatchNode {
 public:
  ExprNode(const Value& operand, ExpressionPtr expression, const Environment& environment)
      : MatchNode(MatchOp::kExpr), operand_(operand), expression_(std::move(expression)), environment_(environment) {}

  Value operand() const override { return operand_; }
  Result<bool> Matches(bson::View document, MatchDetails*) const override {
    bson::Arena arena(bson::Arena::Use::kQuery);
    BRAID_TRY(const Value result, Evaluate(*expression_, document, environment_, arena));
    return bson::IsTruthy(result);
  }
  Result<bool> MatchesElement(const Value& element) const override {
    if (!element.Is(bson::Type::kObject)) return false;
    return Matches(element.AsView(), nullptr);
  }
  void AppendTo(bson::Builder& out) const override { out.Append("$expr", operand_); }
  void AppendCondition(bson::Builder& out) const override { AppendTo(out); }

 private:
  const bson::OwnedValue operand_;
  const ExpressionPtr expression_;
  const Environment& environment_;  // kept alive by the Filter
};

Result<NodePtr> MakeExpr(const Value& operand, const ParseContext& context) {
  auto expression = ParseExpression(operand, context.environment);
  if (!expression.ok()) return expression.error();
  return NodePtr(std::make_unique<ExprNode>(operand, *std::move(expression), context.environment));
}

}  // namespace

Result<NodePtr> ParseExpr(const OperatorCall& call) {
  if (!call.context.top_level) return BadValue("$expr can only be applied to the top-level document");
  return MakeExpr(call.operand, call.context);
}

Result<NodePtr> ParseSampleRate(const OperatorCall& call) {
  const auto rate = bson::NumberOf(call.operand);
  if (!rate) return BadValue("argument to $sampleRate must be a numeric type");
  const double value = rate->ToDouble();
  if (!(value >= 0.0 && value <= 1.0)) return BadValue("numeric argument to $sampleRate must be in [0, 1]");
  if (value == 0.0 || value == 1.0) return MakeConstant(value == 1.0);
  bson::Builder expression;
  expression.OpenArray("$lt").OpenNextObject().OpenObject("$rand").Close().Close().AppendNext(value).Close();
  const bson::Document less = expression.Finish();
  return MakeExpr(Value(less.view()), call.context);
}

}  // namespace braid::query
