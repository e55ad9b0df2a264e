// Expression: the aggregation expression language ($expr, projections, pipeline stages, pipeline updates).
// One file per family of operators, one table of all of them (operators.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "braid/status.h"
#include "engine/bson/arena.h"
#include "engine/bson/collation.h"
#include "engine/bson/value.h"

namespace braid::query {

/// What the expressions of one command share. Made once per command; it must live as long as the expressions that were
/// parsed with it.
struct Environment {
  std::shared_ptr<const bson::Collation> collation;                 // null: simple
  int64_t now_millis = 0;                                           // $$NOW
  uint64_t cluster_time = 0;                                        // $$CLUSTER_TIME, timestamp bits
  std::vector<std::pair<std::string, bson::OwnedValue>> variables;  // `let`; values may change between evaluations
};

struct Evaluation;
class Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

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

  // Questions of $reduce to its body, to append to its value in place (reduce.cc).
  /// The expression that gives this one's value once conditions are decided and variables are set: a branch of $cond or
  /// $switch, the `in` of $let. Itself for all others.
  virtual Result<const Expression*> Tail(Evaluation&) const { return this; }
  /// Whether it is exactly the variable of that slot.
  virtual bool IsVariable(int /*slot*/) const { return false; }
  /// If it is {$concat: [variable, …]} or {$concatArrays: [variable, …]}, the operands after the variable; else empty.
  virtual std::span<const ExpressionPtr> AppendedTo(int /*slot*/) const { return {}; }
};

/// A literal, "$path", "$$variable", {$operator: …}, {field: expression, …} or [expression, …]. Constants are folded.
/// Errors carry MongoDB's codes (unknown operator kInvalidPipelineOperator 168, wrong arity Location(16020), unknown
/// variable Location(17276), …); operators that MongoDB has and Braid does not yet are refused by name (operators.cc).
Result<ExpressionPtr> ParseExpression(const bson::Value& value, const Environment& environment);

/// Evaluates over one document as $$ROOT and $$CURRENT. `environment` is the one it was parsed with. Stops with the
/// request (Work::Current); kExceededMemoryLimit if the values it makes take too much.
Result<bson::Value> Evaluate(const Expression& expression, bson::View document, const Environment& environment,
                             bson::Arena& arena);

/// The operators, sorted, for docs/compatibility.md and its test: supported, and known but refused.
struct OperatorNames {
  std::vector<std::string_view> supported;
  std::vector<std::string_view> refused;
};
OperatorNames ExpressionOperators();

}  // namespace braid::query
