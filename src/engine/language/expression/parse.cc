// From BSON to expressions: literals, paths, objects, arrays, and operators through their table; constants are folded.
#include "base/assert.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/operators.h"

namespace braid::query {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

constexpr int kDepthMax = 200;  // of nested expressions, as deep as documents may be

Result<ExpressionPtr> ParsePath(std::string_view text, ParseContext& context) {
  BRAID_CHECK_OK(CheckFieldPath(text));
  std::vector<std::string> path;
  for (std::string_view part : Split(text, '.')) path.emplace_back(part);
  using From = PathExpression::From;
  const From from = context.current_slot < 0 ? From::kRoot : From::kSlot;
  return std::make_unique<PathExpression>(from, context.current_slot, std::move(path));
}

Result<ExpressionPtr> ParseVariable(std::string_view text, ParseContext& context) {
  const size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  BRAID_CHECK_OK(CheckVariableName(name, /*write=*/false));
  std::vector<std::string> path;
  if (dot != std::string_view::npos) {
    BRAID_CHECK_OK(CheckFieldPath(text.substr(dot + 1)));
    for (std::string_view part : Split(text.substr(dot + 1), '.')) path.emplace_back(part);
  }
  using From = PathExpression::From;
  auto make = [&path](From from, int index) -> ExpressionPtr {
    return std::make_unique<PathExpression>(from, index, std::move(path));
  };
  if (name == "ROOT") return make(From::kRoot, 0);
  if (name == "CURRENT") return make(context.current_slot < 0 ? From::kRoot : From::kSlot, context.current_slot);
  for (size_t i = context.locals.size(); i-- > 0;) {
    if (context.locals[i].name == name) return make(From::kSlot, context.locals[i].slot);
  }
  const auto& variables = context.environment.variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].first == name) return make(From::kEnvironment, static_cast<int>(i));
  }
  if (name == "NOW") return make(From::kNow, 0);
  if (name == "REMOVE") return make(From::kNothing, 0);
  if (name == "CLUSTER_TIME") {
    if (context.environment.cluster_time == 0) {
      return Status(Location(51144), "Builtin variable '$$CLUSTER_TIME' is not available");
    }
    return make(From::kClusterTime, 0);
  }
  bson::Arena arena;
  if (name == "DESCEND") return MakeConstant(arena.String("descend"));
  if (name == "PRUNE") return MakeConstant(arena.String("prune"));
  if (name == "KEEP") return MakeConstant(arena.String("keep"));
  return Status(Location(17276), StrCat("Use of undefined variable: ", name));
}

Result<ExpressionPtr> ParseOperator(const Element& field, ParseContext& context) {
  const Operator* op = FindOperator(field.name);
  if (op == nullptr) {
    if (IsRefusedOperator(field.name)) {
      return Status(Code::kCommandNotSupported, StrCat("Braid does not support the expression ", field.name));
    }
    return Status(Code::kInvalidPipelineOperator, StrCat("Unrecognized expression '", field.name, "'"));
  }
  if (op->parser != nullptr) return op->parser(op->name, field.value, context);
  if (op->named != nullptr) {
    BRAID_TRY(auto operands, ParseNamedOperands(op->name, *op->named, field.value, context));
    return MakeCall(*op, std::move(operands), context);
  }
  BRAID_TRY(auto operands, ParseOperandList(field.value, context));
  const int count = static_cast<int>(operands.size());
  if (count < op->operands_min || count > op->operands_max) {
    if (op->operands_min == op->operands_max) {
      return CallError(16020, "Expression ", op->name, " takes exactly ", op->operands_min, " arguments. ", count,
                       " were passed in.");
    }
    if (op->operands_max == kAnyNumber) {  // $setEquals
      return CallError(17045, op->name, " needs at least ", op->operands_min, " arguments, had: ", count);
    }
    return CallError(28667, "Expression ", op->name, " takes at least ", op->operands_min, " arguments, and at most ",
                     op->operands_max, ", but ", count, " were passed in.");
  }
  return MakeCall(*op, std::move(operands), context);
}

Result<ExpressionPtr> ParseObject(bson::View object, ParseContext& context) {
  ObjectExpression::Fields fields;
  std::set<std::string_view> names;
  bool constant = true;
  for (const Element& field : object) {
    if (field.name.starts_with('$') && fields.empty()) {
      if (object.Count() != 1) {
        return Status(Location(15983), StrCat("An object representing an expression must have exactly one field: '",
                                              field.name, "' is not alone"));
      }
      return ParseOperator(field, context);
    }
    BRAID_CHECK_OK(CheckFieldName(field.name));
    if (!names.insert(field.name).second) {
      return CallError(16406, "duplicate field name specified in object literal: ", field.name);
    }
    BRAID_TRY(ExpressionPtr value, ParseOperand(field.value, context));
    constant = constant && value->constant() != nullptr;
    fields.emplace_back(field.name, std::move(value));
  }
  ExpressionPtr made = std::make_unique<ObjectExpression>(std::move(fields));
  if (constant) return Fold(std::move(made), context);
  return made;
}

}  // namespace

Result<ExpressionPtr> ParseOperand(const Value& value, ParseContext& context) {
  if (context.depth >= kDepthMax) return Status(Code::kOverflow, "expression is nested too deeply");
  BRAID_CHECK_OK(Work::Current().Tick(1 + context.locals.size()));
  ++context.depth;
  auto parse = [&]() -> Result<ExpressionPtr> {
    switch (value.type()) {
      case Type::kString: {
        const std::string_view text = value.AsString();
        if (!text.starts_with('$')) return MakeConstant(value);
        if (text.size() == 1) return Status(Location(16872), "'$' by itself is not a valid FieldPath");
        return text[1] == '$' ? ParseVariable(text.substr(2), context) : ParsePath(text.substr(1), context);
      }
      case Type::kObject: return ParseObject(value.AsView(), context);
      case Type::kArray: {
        BRAID_TRY(auto items, ParseOperandList(value, context));
        const bool constant = AllConstant(items);
        ExpressionPtr made = std::make_unique<ArrayExpression>(std::move(items));
        if (constant) return Fold(std::move(made), context);
        return made;
      }
      default: return MakeConstant(value);
    }
  };
  Result<ExpressionPtr> parsed = parse();
  --context.depth;
  return parsed;
}

Result<std::vector<ExpressionPtr>> ParseOperandList(const Value& value, ParseContext& context) {
  std::vector<ExpressionPtr> operands;
  if (!value.Is(Type::kArray)) {
    BRAID_TRY(ExpressionPtr only, ParseOperand(value, context));
    operands.push_back(std::move(only));
    return operands;
  }
  for (const Element& item : value.AsView()) {
    BRAID_TRY(ExpressionPtr operand, ParseOperand(item.value, context));
    operands.push_back(std::move(operand));
  }
  return operands;
}

Result<std::vector<ExpressionPtr>> ParseNamedOperands(std::string_view name, const NamedOperands& names,
                                                      const Value& value, ParseContext& context) {
  if (!value.Is(Type::kObject)) {
    return CallError(names.not_object_code, name,
                     " requires an object as an argument, found: ", bson::TypeName(value.type()));
  }
  std::vector<ExpressionPtr> operands(names.operands.size());
  for (const Element& field : value.AsView()) {
    size_t i = 0;
    while (i < names.operands.size() && names.operands[i].name != field.name) ++i;
    if (i == names.operands.size()) {
      return CallError(names.unknown_code, name, " found an unknown argument: ", field.name);
    }
    BRAID_TRY(operands[i], ParseOperand(field.value, context));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr && names.operands[i].required_code != 0) {
      return CallError(names.operands[i].required_code, name, " requires '", names.operands[i].name, "'");
    }
  }
  return operands;
}

Result<ExpressionPtr> Fold(ExpressionPtr expression, ParseContext& context) {
  bson::Arena arena(bson::Arena::Use::kQuery);
  BRAID_TRY(Value value, query::Evaluate(*expression, bson::View(), context.environment, arena));
  auto folded = std::make_unique<FoldedExpression>(value);
  BRAID_CHECK_OK(folded->Charge());
  return ExpressionPtr(std::move(folded));
}

Result<ExpressionPtr> MakeCall(const Operator& op, std::vector<ExpressionPtr> operands, ParseContext& context) {
  BRAID_ASSERT(op.function != nullptr && (op.named == nullptr || operands.size() == op.named->operands.size()));
  const bool fold = op.pure && AllConstant(operands);
  ExpressionPtr call = std::make_unique<CallExpression>(op, std::move(operands));
  if (fold) return Fold(std::move(call), context);
  return call;
}

Result<ExpressionPtr> ParseExpression(const Value& value, const Environment& environment) {
  ParseContext context{.environment = environment};
  return ParseOperand(value, context);
}

Result<Value> Evaluate(const Expression& expression, bson::View document, const Environment& environment,
                       bson::Arena& arena) {
  Work& work = Work::Current();
  Evaluation evaluation{.root = document, .environment = environment, .arena = arena, .work = work, .slots = {}};
  BRAID_TRY(const Value value, expression.Evaluate(evaluation));
  BRAID_CHECK_OK(work.Tick());  // a value that did not fit is not the result
  return value;
}

}  // namespace braid::query
