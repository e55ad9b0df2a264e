// $and and $or, which stop at the first operand that decides, $not, and the comparisons $cmp, $eq, $ne, $lt, $lte, $gt
// and $gte, which follow the order of all values, not bracketed by type.
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"

namespace braid::query::functions {
namespace {

using bson::Value;

class LogicExpression final : public Expression {
 public:
  LogicExpression(bool decisive, std::vector<ExpressionPtr> operands)
      : decisive_(decisive), operands_(std::move(operands)) {}
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    for (const ExpressionPtr& operand : operands_) {
      BRAID_TRY(Value value, operand->Evaluate(evaluation));
      if (bson::IsTruthy(value) == decisive_) return bson::Arena::Bool(decisive_);
    }
    return bson::Arena::Bool(!decisive_);
  }
  void CollectPaths(std::set<std::string>* paths) const override { CollectPathsOf(operands_, paths); }

 private:
  bool decisive_;  // the truth value of an operand that ends the evaluation: false for $and, true for $or
  std::vector<ExpressionPtr> operands_;
};

Result<ExpressionPtr> ParseLogic(bool decisive, const Value& operand, ParseContext& context) {
  BRAID_TRY(auto operands, ParseOperandList(operand, context));
  bool all_constant = true;
  for (const ExpressionPtr& each : operands) {
    if (each->constant() == nullptr) {
      all_constant = false;
    } else if (bson::IsTruthy(*each->constant()) == decisive) {
      return MakeConstant(bson::Arena::Bool(decisive));
    }
  }
  if (all_constant) return MakeConstant(bson::Arena::Bool(!decisive));
  return std::make_unique<LogicExpression>(decisive, std::move(operands));
}

int Order(const Call& call) { return bson::Compare(call[0], call[1], call.collation()); }

}  // namespace

Result<ExpressionPtr> ParseAnd(std::string_view, const Value& operand, ParseContext& context) {
  return ParseLogic(false, operand, context);
}
Result<ExpressionPtr> ParseOr(std::string_view, const Value& operand, ParseContext& context) {
  return ParseLogic(true, operand, context);
}
Result<Value> Not(const Call& call) { return call.arena().Bool(!bson::IsTruthy(call[0])); }

Result<Value> Cmp(const Call& call) {
  const int order = Order(call);
  return call.arena().Int32((order > 0) - (order < 0));
}
Result<Value> Eq(const Call& call) { return call.arena().Bool(Order(call) == 0); }
Result<Value> Ne(const Call& call) { return call.arena().Bool(Order(call) != 0); }
Result<Value> Lt(const Call& call) { return call.arena().Bool(Order(call) < 0); }
Result<Value> Lte(const Call& call) { return call.arena().Bool(Order(call) <= 0); }
Result<Value> Gt(const Call& call) { return call.arena().Bool(Order(call) > 0); }
Result<Value> Gte(const Call& call) { return call.arena().Bool(Order(call) >= 0); }

}  // namespace braid::query::functions
