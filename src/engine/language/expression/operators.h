// The table of operators: how each is parsed. An operator is a function of its operands' values, listed by position or
// by name, or it brings a parser of its own ($let, $map, $cond, …). Internal to this folder.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/language/expression/evaluation.h"

namespace braid::query {

/// The state of parsing: the names in scope and their slots.
struct ParseContext {
  struct Local {
    std::string name;
    int slot;
  };
  const Environment& environment;
  std::vector<Local> locals;  // innermost last
  int current_slot = -1;      // where $$CURRENT lives; -1: it is $$ROOT
  int next_slot = 0;
  int depth = 0;
};

/// Parses the operand of the operator `name`.
using Parser = Result<ExpressionPtr>(std::string_view name, const bson::Value& operand, ParseContext& context);

/// An operand given by name: {input: …, to: …}.
struct NamedOperand {
  std::string_view name;
  int required_code = 0;  // the error if it is not there; 0: optional
  bool lazy = false;      // computed only if the function asks for it
};

/// How an operator with named operands is written, and its codes.
struct NamedOperands {
  int not_object_code;
  int unknown_code;
  std::span<const NamedOperand> operands;
};

constexpr int kAnyNumber = 1 << 20;

struct Operator {
  std::string_view name;
  Function* function = nullptr;
  int operands_min = 0;  // by position
  int operands_max = 0;
  const NamedOperands* named = nullptr;
  Parser* parser = nullptr;
  bool pure = true;  // same operands, same value: may be folded
};

/// The operator of that name, or null.
const Operator* FindOperator(std::string_view name);
bool IsRefusedOperator(std::string_view name);

/// ParseExpression for operands: names of the enclosing operators are in scope.
Result<ExpressionPtr> ParseOperand(const bson::Value& value, ParseContext& context);

/// The operands of a positional operator: the elements of an array, or a single value that is not an array.
Result<std::vector<ExpressionPtr>> ParseOperandList(const bson::Value& value, ParseContext& context);

/// Null pointers stand for optional operands that were not written.
Result<std::vector<ExpressionPtr>> ParseNamedOperands(std::string_view name, const NamedOperands& names,
                                                      const bson::Value& value, ParseContext& context);

/// A call, or the constant that it evaluates to.
Result<ExpressionPtr> MakeCall(const Operator& op, std::vector<ExpressionPtr> operands, ParseContext& context);

/// Replaces an expression that depends on constants only by its value.
Result<ExpressionPtr> Fold(ExpressionPtr expression, ParseContext& context);

ExpressionPtr MakeConstant(const bson::Value& value);

/// A field path without its "$"; codes as MongoDB's FieldPath.
Status CheckFieldPath(std::string_view path);
/// The name of one field of an object expression.
Status CheckFieldName(std::string_view name);
/// A variable's name: `write` for those that $let and the like may define.
Status CheckVariableName(std::string_view name, bool write);

}  // namespace braid::query
