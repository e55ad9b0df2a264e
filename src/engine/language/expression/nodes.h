// The kinds of expressions that are not operators: constants, field paths, variables, objects, arrays; the call of a
// function over operands; and the common part of $map, $filter and $reduce. Internal to this folder.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/language/expression/evaluation.h"
#include "engine/language/expression/operators.h"

namespace braid::query {

class ConstantExpression : public Expression {
 public:
  explicit ConstantExpression(const bson::Value& value) : owned_(value), value_(owned_.value()) {}
  ConstantExpression(const ConstantExpression&) = delete;
  ConstantExpression& operator=(const ConstantExpression&) = delete;
  Result<bson::Value> Evaluate(Evaluation&) const override { return value_; }
  const bson::Value* constant() const override { return &value_; }
  void CollectPaths(std::set<std::string>*) const override {}

 private:
  bson::OwnedValue owned_;
  bson::Value value_;
};

/// The value of an operator over constants, computed once: it may be larger than what was written.
class FoldedExpression final : public ConstantExpression {
 public:
  using ConstantExpression::ConstantExpression;
  Status Charge() { return held_.Set(constant()->bytes().size()); }

 private:
  HeldMemory held_;
};

/// "$a.b" and "$$name.a.b": a path below a document. The path descends into arrays on the way and then gives an array.
class PathExpression final : public Expression {
 public:
  enum class From { kRoot, kSlot, kEnvironment, kNow, kClusterTime, kNothing };
  PathExpression(From from, int index, std::vector<std::string> path)
      : from_(from), index_(index), path_(std::move(path)) {}
  Result<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void CollectPaths(std::set<std::string>* paths) const override;
  bool IsVariable(int slot) const override { return from_ == From::kSlot && index_ == slot && path_.empty(); }

 private:
  From from_;
  int index_;  // of the slot or of the environment's variable
  std::vector<std::string> path_;
};

class ObjectExpression final : public Expression {
 public:
  using Fields = std::vector<std::pair<std::string, ExpressionPtr>>;
  explicit ObjectExpression(Fields fields) : fields_(std::move(fields)) {}
  Result<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void CollectPaths(std::set<std::string>* paths) const override;
  const Fields& fields() const { return fields_; }

 private:
  Fields fields_;
};

class ArrayExpression final : public Expression {
 public:
  explicit ArrayExpression(std::vector<ExpressionPtr> items) : items_(std::move(items)) {}
  Result<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void CollectPaths(std::set<std::string>* paths) const override;
  const std::vector<ExpressionPtr>& items() const { return items_; }

 private:
  std::vector<ExpressionPtr> items_;
};

class CallExpression final : public Expression {
 public:
  CallExpression(const Operator& op, std::vector<ExpressionPtr> operands) : op_(op), operands_(std::move(operands)) {}
  Result<bson::Value> Evaluate(Evaluation& evaluation) const override;
  void CollectPaths(std::set<std::string>* paths) const override;
  std::span<const ExpressionPtr> AppendedTo(int slot) const override;
  const Operator& op() const { return op_; }
  const std::vector<ExpressionPtr>& operands() const { return operands_; }

 private:
  const Operator& op_;
  std::vector<ExpressionPtr> operands_;
};

/// The paths of every operand that was given.
void CollectPathsOf(std::span<const ExpressionPtr> operands, std::set<std::string>* paths);
inline bool AllConstant(std::span<const ExpressionPtr> operands) {
  for (const ExpressionPtr& operand : operands) {
    if (operand != nullptr && operand->constant() == nullptr) return false;
  }
  return true;
}

}  // namespace braid::query

namespace braid::query::functions {

/// An expression that is evaluated for each element of an array: an input, and a body over variables in slots.
struct Loop {
  ExpressionPtr input;
  ExpressionPtr body;
  int slot = 0;         // of the element; $reduce has $$value in the next one
  ExpressionPtr extra;  // $filter: the limit, or null; $reduce: the initial value
};

class LoopExpression : public Expression {
 public:
  explicit LoopExpression(Loop loop) : loop_(std::move(loop)) {}
  void CollectPaths(std::set<std::string>* paths) const override {
    loop_.input->CollectPaths(paths);
    loop_.body->CollectPaths(paths);
    if (loop_.extra != nullptr) loop_.extra->CollectPaths(paths);
  }

 protected:
  Loop loop_;
};

/// reduce.cc
class ReduceExpression final : public LoopExpression {
 public:
  using LoopExpression::LoopExpression;
  Result<bson::Value> Evaluate(Evaluation& evaluation) const override;
};

}  // namespace braid::query::functions
