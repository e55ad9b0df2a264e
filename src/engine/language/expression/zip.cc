// $zip: arrays side by side become an array of tuples.
#include <algorithm>

#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

class ZipExpression final : public Expression {
 public:
  ZipExpression(std::vector<ExpressionPtr> inputs, std::vector<ExpressionPtr> defaults, bool longest)
      : inputs_(std::move(inputs)), defaults_(std::move(defaults)), longest_(longest) {}

  Result<Value> Evaluate(Evaluation& evaluation) const override {
    std::vector<Values> columns;
    size_t rows = 0;
    for (const ExpressionPtr& input : inputs_) {
      BRAID_TRY(Value value, input->Evaluate(evaluation));
      if (value.IsNullish()) return bson::Arena::Null();
      if (!value.Is(Type::kArray))
        return CallError(34468, "$zip found a non-array expression in input: ", TypeOf(value));
      columns.push_back(ItemsOf(value));
      const size_t size = columns.back().size();
      rows = columns.size() == 1 ? size : (longest_ ? std::max(rows, size) : std::min(rows, size));
    }
    Values fill(columns.size(), bson::Arena::Null());
    for (size_t i = 0; i < defaults_.size(); ++i) {
      BRAID_TRY(fill[i], defaults_[i]->Evaluate(evaluation));
    }
    Values tuples;
    for (size_t row = 0; row < rows; ++row) {
      BRAID_CHECK_OK(evaluation.work.Tick(columns.size()));
      Values tuple;
      for (size_t i = 0; i < columns.size(); ++i) {
        tuple.push_back(row < columns[i].size() ? columns[i][row] : fill[i]);
      }
      tuples.push_back(MakeArray(evaluation.arena, tuple));
    }
    return MakeArray(evaluation.arena, tuples);
  }
  void CollectPaths(std::set<std::string>* paths) const override {
    CollectPathsOf(inputs_, paths);
    CollectPathsOf(defaults_, paths);
  }

 private:
  std::vector<ExpressionPtr> inputs_;
  std::vector<ExpressionPtr> defaults_;
  bool longest_;
};

}  // namespace

Result<ExpressionPtr> ParseZip(std::string_view, const Value& operand, ParseContext& context) {
  if (!operand.Is(Type::kObject))
    return CallError(34460, "$zip only supports an object as an argument, found ", TypeOf(operand));
  std::vector<ExpressionPtr> inputs;
  std::vector<ExpressionPtr> defaults;
  bool longest = false;
  for (const Element& field : operand.AsView()) {
    if (field.name == "inputs") {
      if (!field.value.Is(Type::kArray))
        return CallError(34461, "inputs must be an array of expressions, found ", TypeOf(field.value));
      BRAID_TRY(inputs, ParseOperandList(field.value, context));
    } else if (field.name == "defaults") {
      if (!field.value.Is(Type::kArray))
        return CallError(34462, "defaults must be an array of expressions, found ", TypeOf(field.value));
      BRAID_TRY(defaults, ParseOperandList(field.value, context));
    } else if (field.name == "useLongestLength") {
      if (!field.value.Is(Type::kBool))
        return CallError(34463, "useLongestLength must be a bool, found ", TypeOf(field.value));
      longest = field.value.AsBool();
    } else {
      return CallError(34464, "$zip found an unknown argument: ", field.name);
    }
  }
  if (inputs.empty()) return CallError(34465, "$zip requires at least one input array");
  if (!defaults.empty() && !longest) return CallError(34466, "cannot specify defaults unless useLongestLength is true");
  if (!defaults.empty() && defaults.size() != inputs.size()) {
    return CallError(34467, "defaults and inputs must have the same length");
  }
  const bool constant = AllConstant(inputs) && AllConstant(defaults);
  ExpressionPtr made = std::make_unique<ZipExpression>(std::move(inputs), std::move(defaults), longest);
  if (constant) return Fold(std::move(made), context);
  return made;
}

}  // namespace braid::query::functions
