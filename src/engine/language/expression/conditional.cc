// $cond, $ifNull and $switch: only the branch that is taken is computed.
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

/// Conditions and their results, alternating; a last expression without a condition is the default.
class BranchExpression final : public Expression {
 public:
  BranchExpression(std::string_view name, std::vector<ExpressionPtr> parts) : name_(name), parts_(std::move(parts)) {}
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(const Expression* branch, Tail(evaluation));
    return branch->Evaluate(evaluation);
  }
  Result<const Expression*> Tail(Evaluation& evaluation) const override {
    size_t i = 0;
    for (; i + 1 < parts_.size(); i += 2) {
      BRAID_TRY(Value condition, parts_[i]->Evaluate(evaluation));
      if (bson::IsTruthy(condition)) return parts_[i + 1].get();
    }
    if (i < parts_.size()) return parts_[i].get();
    return CallError(40066, name_, " could not find a matching branch for an input, and no default was specified.");
  }
  void CollectPaths(std::set<std::string>* paths) const override { CollectPathsOf(parts_, paths); }

 private:
  std::string_view name_;
  std::vector<ExpressionPtr> parts_;
};

class IfNullExpression final : public Expression {
 public:
  explicit IfNullExpression(std::vector<ExpressionPtr> operands) : operands_(std::move(operands)) {}
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    for (size_t i = 0; i + 1 < operands_.size(); ++i) {
      BRAID_TRY(Value value, operands_[i]->Evaluate(evaluation));
      if (!value.IsNullish()) return value;
    }
    return operands_.back()->Evaluate(evaluation);
  }
  void CollectPaths(std::set<std::string>* paths) const override { CollectPathsOf(operands_, paths); }

 private:
  std::vector<ExpressionPtr> operands_;
};

/// Drops branches that cannot be taken, ends at one that always is.
Result<ExpressionPtr> MakeBranches(std::string_view name, std::vector<ExpressionPtr> parts, ParseContext& context) {
  std::vector<ExpressionPtr> kept;
  size_t i = 0;
  bool decided = false;
  for (; i + 1 < parts.size() && !decided; i += 2) {
    const Value* condition = parts[i]->constant();
    if (condition == nullptr) {
      kept.push_back(std::move(parts[i]));
      kept.push_back(std::move(parts[i + 1]));
    } else if (bson::IsTruthy(*condition)) {
      kept.push_back(std::move(parts[i + 1]));
      decided = true;
    }
  }
  if (!decided && i < parts.size()) kept.push_back(std::move(parts[i]));
  if (kept.size() == 1) return std::move(kept.front());
  const bool never = kept.empty();
  ExpressionPtr made = std::make_unique<BranchExpression>(name, std::move(kept));
  return never ? Fold(std::move(made), context) : Result<ExpressionPtr>(std::move(made));
}

Result<std::vector<ExpressionPtr>> ParseCase(const Value& branch, ParseContext& context) {
  if (!branch.Is(Type::kObject))
    return CallError(40062, "$switch requires each branch to be an object, found ", TypeOf(branch));
  std::vector<ExpressionPtr> parts(2);
  for (const Element& field : branch.AsView()) {
    if (field.name != "case" && field.name != "then") {
      return CallError(40063, "$switch found an unknown argument to a branch: ", field.name);
    }
    BRAID_TRY(parts[field.name == "case" ? 0 : 1], ParseOperand(field.value, context));
  }
  if (parts[0] == nullptr) return CallError(40064, "$switch requires each branch have a 'case' expression");
  if (parts[1] == nullptr) return CallError(40065, "$switch requires each branch have a 'then' expression.");
  return parts;
}

}  // namespace

Result<ExpressionPtr> ParseCond(std::string_view name, const Value& operand, ParseContext& context) {
  std::vector<ExpressionPtr> parts;
  if (operand.Is(Type::kObject)) {
    static constexpr NamedOperand kParts[] = {{"if", 17080}, {"then", 17081}, {"else", 17082}};
    static constexpr NamedOperands kNames = {16020, 17083, kParts};
    BRAID_TRY(parts, ParseNamedOperands(name, kNames, operand, context));
  } else {
    BRAID_TRY(parts, ParseOperandList(operand, context));
    if (parts.size() != 3) {
      return CallError(16020, "Expression $cond takes exactly 3 arguments. ", parts.size(), " were passed in.");
    }
  }
  return MakeBranches(name, std::move(parts), context);
}

Result<ExpressionPtr> ParseIfNull(std::string_view, const Value& operand, ParseContext& context) {
  BRAID_TRY(auto operands, ParseOperandList(operand, context));
  if (operands.size() < 2) {
    return CallError(1257300, "$ifNull needs at least two arguments, had: ", operands.size());
  }
  const bool constant = AllConstant(operands);
  ExpressionPtr made = std::make_unique<IfNullExpression>(std::move(operands));
  if (constant) return Fold(std::move(made), context);
  return made;
}

Result<ExpressionPtr> ParseSwitch(std::string_view name, const Value& operand, ParseContext& context) {
  if (!operand.Is(Type::kObject)) {
    return CallError(40060, "$switch requires an object as an argument, found: ", TypeOf(operand));
  }
  std::vector<ExpressionPtr> parts;
  ExpressionPtr otherwise;
  for (const Element& field : operand.AsView()) {
    if (field.name == "branches") {
      if (!field.value.Is(Type::kArray)) {
        return CallError(40061, "$switch expected an array for 'branches', found: ", TypeOf(field.value));
      }
      for (const Element& branch : field.value.AsView()) {
        BRAID_TRY(auto both, ParseCase(branch.value, context));
        for (ExpressionPtr& part : both) parts.push_back(std::move(part));
      }
    } else if (field.name == "default") {
      BRAID_TRY(otherwise, ParseOperand(field.value, context));
    } else {
      return CallError(40067, "$switch found an unknown argument: ", field.name);
    }
  }
  if (parts.empty()) return CallError(40068, "$switch requires at least one branch.");
  if (otherwise != nullptr) parts.push_back(std::move(otherwise));
  return MakeBranches(name, std::move(parts), context);
}

}  // namespace braid::query::functions
