// $map and $filter, and how $reduce is parsed: an expression computed for each element, with the element in a variable.
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

class MapExpression final : public LoopExpression {
 public:
  using LoopExpression::LoopExpression;
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(Value input, loop_.input->Evaluate(evaluation));
    if (input.IsNullish()) return bson::Arena::Null();
    if (!input.Is(Type::kArray)) return CallError(16883, "input to $map must be an array not ", TypeOf(input));
    Values items;
    for (const Element& item : input.AsView()) {
      BRAID_CHECK_OK(evaluation.work.Tick());
      evaluation.Set(loop_.slot, item.value);
      const bson::Arena::Mark before = evaluation.arena.mark();
      BRAID_TRY(Value value, loop_.body->Evaluate(evaluation));
      items.push_back(FreeTemporaries(evaluation.arena, before, value));
    }
    return MakeArray(evaluation.arena, items);
  }
};

class FilterExpression final : public LoopExpression {
 public:
  using LoopExpression::LoopExpression;
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(Value input, loop_.input->Evaluate(evaluation));
    if (input.IsNullish()) return bson::Arena::Null();
    if (!input.Is(Type::kArray)) return CallError(28651, "input to $filter must be an array not ", TypeOf(input));
    BRAID_TRY(const size_t limit, Limit(evaluation));
    Values items;
    for (const Element& item : input.AsView()) {
      BRAID_CHECK_OK(evaluation.work.Tick());
      evaluation.Set(loop_.slot, item.value);
      const bson::Arena::Mark before = evaluation.arena.mark();
      BRAID_TRY(Value condition, loop_.body->Evaluate(evaluation));
      condition = FreeTemporaries(evaluation.arena, before, condition);
      if (!bson::IsTruthy(condition)) continue;
      items.push_back(item.value);
      if (items.size() == limit) break;
    }
    return MakeArray(evaluation.arena, items);
  }

 private:
  Result<size_t> Limit(Evaluation& evaluation) const {
    if (loop_.extra == nullptr) return SIZE_MAX;
    BRAID_TRY(Value limit, loop_.extra->Evaluate(evaluation));
    if (limit.IsNullish()) return SIZE_MAX;
    const std::optional<int32_t> exact = ExactInt32(limit);
    if (!exact) return CallError(327391, "$filter: limit must be represented as a 32-bit integral value");
    if (*exact < 1) return CallError(327392, "$filter: limit must be greater than 0, found ", *exact);
    return static_cast<size_t>(*exact);
  }
};

/// The operand's fields as written.
struct LoopFields {
  Value input, as, body, extra;
};
struct LoopCodes {
  int not_object, unknown, no_input, no_body;
};

Result<LoopFields> ReadFields(std::string_view name, const Value& operand, LoopCodes codes, std::string_view body,
                              std::string_view extra, bool named) {
  if (!operand.Is(Type::kObject)) return CallError(codes.not_object, name, " only supports an object as its argument");
  LoopFields fields;
  for (const Element& field : operand.AsView()) {
    if (field.name == "input") {
      fields.input = field.value;
    } else if (named && field.name == "as") {
      fields.as = field.value;
    } else if (field.name == body) {
      fields.body = field.value;
    } else if (!extra.empty() && field.name == extra) {
      fields.extra = field.value;
    } else {
      return CallError(codes.unknown, "Unrecognized parameter to ", name, ": ", field.name);
    }
  }
  if (fields.input.missing()) return CallError(codes.no_input, "Missing 'input' parameter to ", name);
  if (fields.body.missing()) return CallError(codes.no_body, "Missing '", body, "' parameter to ", name);
  return fields;
}

Result<ExpressionPtr> ParseBody(const Value& body, std::vector<ParseContext::Local> locals, ParseContext& context) {
  const size_t before = context.locals.size();
  const int slots = static_cast<int>(locals.size());
  for (ParseContext::Local& local : locals) context.locals.push_back(std::move(local));
  context.next_slot += slots;
  Result<ExpressionPtr> parsed = ParseOperand(body, context);
  context.next_slot -= slots;
  context.locals.resize(before);
  return parsed;
}

Result<Loop> ParseElementLoop(const LoopFields& fields, ParseContext& context) {
  Loop loop;
  std::string as = "this";
  if (!fields.as.missing()) {
    as = fields.as.Is(Type::kString) ? std::string(fields.as.AsString()) : std::string();
    BRAID_CHECK_OK(CheckVariableName(as, /*write=*/true));
  }
  loop.slot = context.next_slot;
  BRAID_TRY(loop.input, ParseOperand(fields.input, context));
  BRAID_TRY(loop.body, ParseBody(fields.body, {{as, loop.slot}}, context));
  if (!fields.extra.missing()) {
    BRAID_TRY(loop.extra, ParseOperand(fields.extra, context));
  }
  return loop;
}

template <typename Made>
Result<ExpressionPtr> MakeLoop(Loop loop, ParseContext& context) {
  const bool constant = loop.input->constant() != nullptr && loop.body->constant() != nullptr &&
                        (loop.extra == nullptr || loop.extra->constant() != nullptr);
  ExpressionPtr made = std::make_unique<Made>(std::move(loop));
  if (constant) return Fold(std::move(made), context);
  return made;
}

}  // namespace

Result<ExpressionPtr> ParseMap(std::string_view name, const Value& operand, ParseContext& context) {
  BRAID_TRY(LoopFields fields, ReadFields(name, operand, {16878, 16879, 16880, 16882}, "in", "", true));
  BRAID_TRY(Loop loop, ParseElementLoop(fields, context));
  return MakeLoop<MapExpression>(std::move(loop), context);
}

Result<ExpressionPtr> ParseFilter(std::string_view name, const Value& operand, ParseContext& context) {
  BRAID_TRY(LoopFields fields, ReadFields(name, operand, {28646, 28647, 28648, 28650}, "cond", "limit", true));
  BRAID_TRY(Loop loop, ParseElementLoop(fields, context));
  return MakeLoop<FilterExpression>(std::move(loop), context);
}

Result<ExpressionPtr> ParseReduce(std::string_view name, const Value& operand, ParseContext& context) {
  BRAID_TRY(LoopFields fields, ReadFields(name, operand, {40075, 40076, 40077, 40079}, "in", "initialValue", false));
  if (fields.extra.missing()) return CallError(40078, "$reduce requires 'initialValue' to be specified");
  Loop loop;
  loop.slot = context.next_slot;
  BRAID_TRY(loop.input, ParseOperand(fields.input, context));
  BRAID_TRY(loop.extra, ParseOperand(fields.extra, context));
  BRAID_TRY(loop.body, ParseBody(fields.body, {{"this", loop.slot}, {"value", loop.slot + 1}}, context));
  return MakeLoop<ReduceExpression>(std::move(loop), context);
}

}  // namespace braid::query::functions
