// $rand: a double in [0, 1), a new one for each document.
#include "base/random.h"

#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

class RandExpression final : public Expression {
 public:
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    thread_local Random random(RandomSeed());
    return evaluation.arena.Double(random.Unit());
  }
  void CollectPaths(std::set<std::string>*) const override {}
};

}  // namespace

Result<ExpressionPtr> ParseRand(std::string_view, const Value& operand, ParseContext&) {
  const bool is_list = operand.Is(Type::kObject) || operand.Is(Type::kArray);
  if (!is_list || !operand.AsView().empty()) return CallError(3040501, "$rand does not currently accept arguments");
  return std::make_unique<RandExpression>();
}

}  // namespace braid::query::functions
