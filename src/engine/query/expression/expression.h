// Expression: the aggregation expression language ($expr, projections, pipeline stages, pipeline updates).
// One file a family of operators, one table of all of them (operators.cc).
#pragma once

#include <memory>
#include <set>
#include <string>

#include "braid/status.h"
#include "engine/bson/arena.h"
#include "engine/bson/value.h"
#include "engine/query/expression/environment.h"

namespace braid::query {

struct Evaluation;

/// A parsed expression: owns its constants, immutable, any thread. Results point into the document, into the expression
/// or into the evaluation's arena. Missing is a result of its own (a field path that leads nowhere).
class Expression {
 public:
  virtual ~Expression() = default;
  virtual Result<bson::Value> Evaluate(Evaluation& evaluation) const = 0;
  /// The value if it is known at parse time (literals and operators over literals).
  virtual const bson::Value* constant() const { return nullptr; }
  /// The field paths this reads, for the planner's covering and for $project's inclusion; "" stands for the whole
  /// document.
  virtual void CollectPaths(std::set<std::string>* paths) const = 0;
};

using ExpressionPtr = std::unique_ptr<const Expression>;

/// A literal, "$path", "$$variable", {$operator: …}, {field: expression, …} or [expression, …]. Constants are folded.
/// Errors carry MongoDB's codes (unknown operator kInvalidPipelineOperator 168, wrong arity Location(16020), unknown
/// variable Location(17276), …); operators that MongoDB has and Braid does not yet are refused by name (operators.cc).
Result<ExpressionPtr> ParseExpression(const bson::Value& value, const Environment& environment);

/// Evaluates over one document as $$ROOT and $$CURRENT. `environment` is the one it was parsed with.
Result<bson::Value> Evaluate(const Expression& expression, bson::View document, const Environment& environment,
                             bson::Arena& arena);

/// The operators, sorted, for docs/compatibility.md and its test: supported, and known but refused.
struct OperatorNames {
  std::vector<std::string_view> supported;
  std::vector<std::string_view> refused;
};
OperatorNames ExpressionOperators();

}  // namespace braid::query
