// $getField, $setField, $unsetField: fields whose names may hold dots and dollars. ($mergeObjects is with the
// accumulators.)
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

/// The codes of a `field` that is not a constant, or no string.
struct FieldCodes {
  int not_constant;
  int not_string;
};

Status CheckField(std::string_view name, const Expression& field, FieldCodes codes) {
  if (field.constant() == nullptr)
    return CallError(codes.not_constant, name, " requires 'field' to evaluate to a constant");
  if (field.constant()->Is(Type::kString)) return {};
  return CallError(codes.not_string, name, " requires 'field' to evaluate to type String, but got ",
                   TypeOf(*field.constant()));
}

Result<Value> GetField(const Call& call) {
  if (call[1].IsNullish()) return call[1].missing() ? Value() : call.arena().Null();
  if (!call[1].Is(Type::kObject)) return Value();
  return call[1].AsView().Find(call[0].AsString());
}

/// The document with one field replaced, appended, or, by a missing value, taken out.
Result<Value> SetField(const Call& call) {
  if (call[1].IsNullish()) return call.arena().Null();
  if (!call[1].Is(Type::kObject)) return CallError(4161105, call.name, " requires 'input' to evaluate to type Object");
  const std::string_view name = call[0].AsString();
  const Value value = call.size() > 2 ? call[2] : Value();
  std::vector<Element> fields;
  bool found = false;
  for (const Element& field : call[1].AsView()) {
    const bool same = field.name == name;
    found = found || same;
    fields.push_back({field.name, same ? value : field.value});
  }
  if (!found) fields.push_back({name, value});
  return MakeObject(call.arena(), fields);
}

constexpr NamedOperand kGet[] = {{"field", 3041702}, {"input", 3041703}};
constexpr NamedOperand kSet[] = {{"field", 4161102}, {"input", 4161109}, {"value", 4161103}};
constexpr NamedOperand kUnset[] = {{"field", 4161102}, {"input", 4161109}};
constexpr NamedOperands kGetNames = {3041704, 3041701, kGet};
constexpr NamedOperands kSetNames = {4161100, 4161101, kSet};
constexpr NamedOperands kUnsetNames = {4161100, 4161101, kUnset};
constexpr Operator kGetField = {.name = "$getField", .function = GetField, .named = &kGetNames};
constexpr Operator kSetField = {.name = "$setField", .function = SetField, .named = &kSetNames};
constexpr Operator kUnsetField = {.name = "$unsetField", .function = SetField, .named = &kUnsetNames};

Result<ExpressionPtr> ParseSet(const Operator& op, const Value& operand, ParseContext& context) {
  BRAID_TRY(auto operands, ParseNamedOperands(op.name, *op.named, operand, context));
  BRAID_CHECK_OK(CheckField(op.name, *operands[0], {4161106, 4161107}));
  return MakeCall(op, std::move(operands), context);
}

}  // namespace

Result<ExpressionPtr> ParseGetField(std::string_view name, const Value& operand, ParseContext& context) {
  std::vector<ExpressionPtr> operands(2);
  const bool is_object = operand.Is(Type::kObject);
  if (is_object && !operand.AsView().empty() && !operand.AsView().begin()->name.starts_with('$')) {
    BRAID_TRY(operands, ParseNamedOperands(name, kGetNames, operand, context));
  } else {  // the name alone: the field of the current document
    bson::Arena arena;
    BRAID_TRY(operands[0], ParseOperand(operand, context));
    BRAID_TRY(operands[1], ParseOperand(arena.String("$$CURRENT"), context));
  }
  BRAID_CHECK_OK(CheckField(name, *operands[0], {5654601, 5654602}));
  return MakeCall(kGetField, std::move(operands), context);
}

Result<ExpressionPtr> ParseSetField(std::string_view, const Value& operand, ParseContext& context) {
  return ParseSet(kSetField, operand, context);
}
Result<ExpressionPtr> ParseUnsetField(std::string_view, const Value& operand, ParseContext& context) {
  return ParseSet(kUnsetField, operand, context);
}

}  // namespace braid::query::functions
