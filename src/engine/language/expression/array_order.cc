// $firstN, $lastN, $minN, $maxN and $sortArray.
#include <algorithm>

#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/order.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

constexpr NamedOperand kN[] = {{"n", 5787906}, {"input", 5787907}};

/// The elements of `input` and how many of them are wanted.
struct Wanted {
  size_t n;
  Values items;
};

Result<Wanted> WantedOf(const Call& call) {
  BRAID_TRY(const size_t n, PositiveN(call.name, call[0]));
  if (!call[1].Is(Type::kArray)) return CallError(5788200, "Input must be an array, found: ", TypeOf(call[1]));
  return Wanted{n, ItemsOf(call[1])};
}

Result<Value> Extremes(const Call& call, int sign) {
  BRAID_TRY(Wanted wanted, WantedOf(call));
  Values& items = wanted.items;
  items.erase(std::remove_if(items.begin(), items.end(), [](const Value& v) { return v.IsNullish(); }), items.end());
  std::stable_sort(items.begin(), items.end(),
                   [&](const Value& a, const Value& b) { return sign * bson::Compare(a, b, call.collation()) < 0; });
  return MakeArray(call.arena(), std::span(items).first(std::min(wanted.n, items.size())));
}

class SortArrayExpression final : public Expression {
 public:
  SortArrayExpression(ExpressionPtr input, ValueOrder pattern)
      : input_(std::move(input)), pattern_(std::move(pattern)) {}
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(Value input, input_->Evaluate(evaluation));
    if (input.IsNullish()) return bson::Arena::Null();
    if (!input.Is(Type::kArray)) {
      return CallError(2942504, "The input argument to $sortArray must be an array, but was of type: ", TypeOf(input));
    }
    Values items = ItemsOf(input);
    const bson::Collation* collation = evaluation.environment.collation.get();
    std::stable_sort(items.begin(), items.end(),
                     [&](const Value& a, const Value& b) { return pattern_.Compare(a, b, collation) < 0; });
    return MakeArray(evaluation.arena, items);
  }
  void CollectPaths(std::set<std::string>* paths) const override { input_->CollectPaths(paths); }

 private:
  ExpressionPtr input_;
  ValueOrder pattern_;
};

}  // namespace

const NamedOperands kNOperands = {5787900, 5787901, kN};

Result<Value> FirstN(const Call& call) {
  BRAID_TRY(Wanted wanted, WantedOf(call));
  return MakeArray(call.arena(), std::span(wanted.items).first(std::min(wanted.n, wanted.items.size())));
}
Result<Value> LastN(const Call& call) {
  BRAID_TRY(Wanted wanted, WantedOf(call));
  return MakeArray(call.arena(), std::span(wanted.items).last(std::min(wanted.n, wanted.items.size())));
}
Result<Value> MinN(const Call& call) { return Extremes(call, 1); }
Result<Value> MaxN(const Call& call) { return Extremes(call, -1); }

Result<ExpressionPtr> ParseSortArray(std::string_view, const Value& operand, ParseContext& context) {
  if (!operand.Is(Type::kObject))
    return CallError(2942500, "$sortArray requires an object as an argument, found: ", TypeOf(operand));
  ExpressionPtr input;
  Value by;
  for (const Element& field : operand.AsView()) {
    if (field.name == "input") {
      BRAID_TRY(input, ParseOperand(field.value, context));
    } else if (field.name == "sortBy") {
      by = field.value;
    } else {
      return CallError(2942501, "$sortArray found an unknown argument: ", field.name);
    }
  }
  if (input == nullptr) return CallError(2942502, "$sortArray requires 'input' to be specified");
  if (by.missing()) return CallError(2942503, "$sortArray requires 'sortBy' to be specified");
  BRAID_TRY(ValueOrder pattern, ValueOrder::Parse(by, /*whole=*/true));
  const bool constant = input->constant() != nullptr;
  ExpressionPtr made = std::make_unique<SortArrayExpression>(std::move(input), std::move(pattern));
  if (constant) return Fold(std::move(made), context);
  return made;
}

}  // namespace braid::query::functions
