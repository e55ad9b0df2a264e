// $let and $literal.
#include "base/strings.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

class LetExpression final : public Expression {
 public:
  LetExpression(int first_slot, std::vector<ExpressionPtr> values, ExpressionPtr in)
      : first_slot_(first_slot), values_(std::move(values)), in_(std::move(in)) {}
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(const Expression* in, Tail(evaluation));
    return in->Evaluate(evaluation);
  }
  Result<const Expression*> Tail(Evaluation& evaluation) const override {
    int slot = first_slot_;
    for (const ExpressionPtr& each : values_) {
      BRAID_TRY(Value value, each->Evaluate(evaluation));
      evaluation.Set(slot++, value);
    }
    return in_.get();
  }
  void CollectPaths(std::set<std::string>* paths) const override {
    CollectPathsOf(values_, paths);
    in_->CollectPaths(paths);
  }

 private:
  int first_slot_;
  std::vector<ExpressionPtr> values_;
  ExpressionPtr in_;
};

}  // namespace

Result<ExpressionPtr> ParseLiteral(std::string_view, const Value& operand, ParseContext&) {
  return MakeConstant(operand);
}

Result<ExpressionPtr> ParseLet(std::string_view, const Value& operand, ParseContext& context) {
  if (!operand.Is(Type::kObject)) return CallError(16874, "$let only supports an object as its argument");
  Value vars;
  Value in;
  for (const Element& field : operand.AsView()) {
    if (field.name == "vars") {
      vars = field.value;
    } else if (field.name == "in") {
      in = field.value;
    } else {
      return CallError(16875, "Unrecognized parameter to $let: ", field.name);
    }
  }
  if (vars.missing()) return CallError(16876, "Missing 'vars' parameter to $let");
  if (in.missing()) return CallError(16877, "Missing 'in' parameter to $let");
  if (!vars.Is(Type::kObject)) {
    return CallError(10065, "invalid parameter: expected an object (vars), found ", TypeOf(vars));
  }
  // The values are computed with the names outside in scope, into slots above those in use.
  const int first_slot = context.next_slot;
  const size_t locals_before = context.locals.size();
  const int current_before = context.current_slot;
  std::vector<ExpressionPtr> values;
  std::vector<ParseContext::Local> defined;
  context.next_slot += static_cast<int>(vars.AsView().Count());
  for (const Element& var : vars.AsView()) {
    BRAID_CHECK_OK(CheckVariableName(var.name, /*write=*/true));
    BRAID_TRY(ExpressionPtr value, ParseOperand(var.value, context));
    defined.push_back({std::string(var.name), first_slot + static_cast<int>(values.size())});
    values.push_back(std::move(value));
  }
  for (ParseContext::Local& local : defined) {
    if (local.name == "CURRENT") context.current_slot = local.slot;
    context.locals.push_back(std::move(local));
  }
  Result<ExpressionPtr> body = ParseOperand(in, context);
  context.locals.resize(locals_before);
  context.current_slot = current_before;
  context.next_slot = first_slot;
  if (!body.ok()) return body;
  if ((*body)->constant() != nullptr) return body;
  return std::make_unique<LetExpression>(first_slot, std::move(values), *std::move(body));
}

}  // namespace braid::query::functions
