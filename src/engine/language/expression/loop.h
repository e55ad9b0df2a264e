// The common part of $map, $filter and $reduce: an expression that is evaluated for each element of an array. Internal
// to this folder.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "engine/language/expression/evaluation.h"

namespace braid::query::functions {

/// An input and a body over variables in slots.
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
