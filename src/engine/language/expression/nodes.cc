// Evaluates constants, paths, objects, arrays and calls.
#include "engine/language/expression/nodes.h"

#include "base/assert.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query {

using bson::Type;
using bson::Value;

Result<Value> PathExpression::Evaluate(Evaluation& evaluation) const {
  Value start;
  switch (from_) {
    case From::kRoot:
      BRAID_CHECK_OK(evaluation.work.Tick(StepsFor(path_.empty() ? 0 : evaluation.root.size())));
      if (!path_.empty()) return Walk(evaluation.root, path_, evaluation.arena);
      return Value(evaluation.root);
    case From::kSlot:
      BRAID_ASSERT(static_cast<size_t>(index_) < evaluation.slots.size());  // set where the variable is defined
      start = evaluation.slots[index_];
      break;
    case From::kEnvironment:
      BRAID_ASSERT(static_cast<size_t>(index_) < evaluation.environment.variables.size());  // as it was parsed with
      start = evaluation.environment.variables[index_].second.value();
      break;
    case From::kNow: start = evaluation.arena.DateMillis(evaluation.environment.now_millis); break;
    case From::kClusterTime: start = evaluation.arena.TimestampBits(evaluation.environment.cluster_time); break;
    case From::kNothing: return Value();
  }
  if (path_.empty()) return start;
  BRAID_CHECK_OK(evaluation.work.Tick(StepsFor(start.bytes().size())));
  if (start.Is(Type::kObject)) return Walk(start.AsView(), path_, evaluation.arena);
  if (start.Is(Type::kArray)) return WalkArray(start, path_, evaluation.arena);
  return Value();
}

void PathExpression::CollectPaths(std::set<std::string>* paths) const {
  if (from_ != From::kRoot) return;  // the paths behind a variable are collected where it is defined
  std::string joined;
  for (const std::string& part : path_) {
    if (!joined.empty()) joined += '.';
    joined += part;
  }
  paths->insert(std::move(joined));
}

Result<Value> ObjectExpression::Evaluate(Evaluation& evaluation) const {
  boost::container::small_vector<bson::Element, 8> fields;
  size_t bytes = 0;
  for (const auto& [name, expression] : fields_) {
    BRAID_TRY(Value value, expression->Evaluate(evaluation));
    bytes += value.bytes().size();
    fields.push_back({name, value});
  }
  BRAID_CHECK_OK(evaluation.work.Tick(StepsFor(bytes)));
  return MakeObject(evaluation.arena, fields);
}

void ObjectExpression::CollectPaths(std::set<std::string>* paths) const {
  for (const auto& [name, expression] : fields_) expression->CollectPaths(paths);
}

Result<Value> ArrayExpression::Evaluate(Evaluation& evaluation) const {
  Values items;
  size_t bytes = 0;
  for (const ExpressionPtr& item : items_) {
    BRAID_TRY(Value value, item->Evaluate(evaluation));
    bytes += value.bytes().size();
    items.push_back(value);
  }
  BRAID_CHECK_OK(evaluation.work.Tick(StepsFor(bytes)));
  return MakeArray(evaluation.arena, items);
}

void ArrayExpression::CollectPaths(std::set<std::string>* paths) const { CollectPathsOf(items_, paths); }

Result<Value> CallExpression::Evaluate(Evaluation& evaluation) const {
  Values args;
  size_t bytes = 0;
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i] == nullptr || (op_.named != nullptr && op_.named->operands[i].lazy)) {
      args.emplace_back();
      continue;
    }
    BRAID_TRY(Value value, operands_[i]->Evaluate(evaluation));
    args.push_back(value);
    bytes += value.bytes().size();
  }
  BRAID_CHECK_OK(evaluation.work.Tick(StepsFor(bytes)));
  return op_.function({.name = op_.name, .args = args, .evaluation = evaluation, .operands = operands_});
}

std::span<const ExpressionPtr> CallExpression::AppendedTo(int slot) const {
  const bool appends = op_.function == functions::Concat || op_.function == functions::ConcatArrays;
  if (!appends || operands_.empty() || !operands_.front()->IsVariable(slot)) return {};
  return std::span(operands_).subspan(1);
}

void CallExpression::CollectPaths(std::set<std::string>* paths) const { CollectPathsOf(operands_, paths); }

void CollectPathsOf(std::span<const ExpressionPtr> operands, std::set<std::string>* paths) {
  for (const ExpressionPtr& operand : operands) {
    if (operand != nullptr) operand->CollectPaths(paths);
  }
}

ExpressionPtr MakeConstant(const Value& value) { return std::make_unique<ConstantExpression>(value); }

}  // namespace braid::query
