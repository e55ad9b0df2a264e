// $inc, $mul and $bit: operators that compute a number from the one that is there.
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/language/update/operators.h"

namespace braid::update {
namespace {

using bson::Number;

/// Writes the number unless the field holds the same one already, in the same type.
Effect WriteNumber(const Target& target, const Number& number, bson::Builder& out) {
  bson::Arena arena;
  const bson::Value value = number.ToValue(arena);
  if (target.current.type() == value.type() && bson::Equal(target.current, value)) return Effect::kNone;
  out.Append(target.name, value);
  return Effect::kWritten;
}

class ArithmeticOperation final : public Operation {
 public:
  enum class Kind { kAdd, kMultiply };
  ArithmeticOperation(std::string_view path, const Number& operand, Kind kind)
      : Operation(path), operand_(operand), kind_(kind) {}

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    const auto name = [this] { return kind_ == Kind::kAdd ? "$inc" : "$mul"; };
    if (!target.current.missing() && !target.current.IsNumber()) {
      return Status(Code::kTypeMismatch, StrCat("Cannot apply ", name(), " to a value of non-numeric type. ",
                                                IdText(context), " has the field '", path(), "' of non-numeric type ",
                                                bson::TypeName(target.current.type())));
    }
    auto result = Compute(target.current.missing() ? Number(int32_t{0}) : Number::Of(target.current));
    if (!result.ok()) {
      return Status(Code::kBadValue, StrCat("Failed to apply ", name(), " to the value of '", path(), "' in document ",
                                            IdText(context), ": the result does not fit in 64 bits"));
    }
    return WriteNumber(target, *result, out);
  }

 private:
  Result<Number> Compute(const Number& current) const {
    if (kind_ == Kind::kMultiply) return Number::Multiply(current, operand_, Number::Overflow::kError);
    return Number::Add(current, operand_, Number::Overflow::kError);
  }

  Number operand_;
  Kind kind_;
};

Status ParseArithmetic(const Operand& operand, ArithmeticOperation::Kind kind, std::vector<Branch>* branches) {
  if (!operand.value.IsNumber()) {
    const bool add = kind == ArithmeticOperation::Kind::kAdd;
    return {Code::kTypeMismatch, StrCat("Cannot ", add ? "increment" : "multiply", " with non-numeric argument: {",
                                        operand.path, ": ", bson::ToShell(operand.value), "}")};
  }
  return AddBranch<ArithmeticOperation>(operand, branches, Number::Of(operand.value), kind);
}

class BitOperation final : public Operation {
 public:
  struct Step {
    enum class Kind { kAnd, kOr, kXor } kind;
    Number operand;
  };
  BitOperation(std::string_view path, std::vector<Step> steps) : Operation(path), steps_(std::move(steps)) {}

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    Number number(int32_t{0});
    if (!target.current.missing()) {
      if (!target.current.Is(bson::Type::kInt32) && !target.current.Is(bson::Type::kInt64)) {
        return Status(Code::kBadValue,
                      StrCat("Cannot apply $bit to a value of non-integral type. ", IdText(context), " has the field '",
                             path(), "' of type ", bson::TypeName(target.current.type())));
      }
      number = Number::Of(target.current);
    }
    for (const Step& step : steps_) number = Run(step, number);
    return WriteNumber(target, number, out);
  }

 private:
  static Number Run(const Step& step, const Number& number) {
    const int64_t a = number.AsInteger();
    const int64_t b = step.operand.AsInteger();
    const int64_t result = step.kind == Step::Kind::kAnd ? a & b : step.kind == Step::Kind::kOr ? a | b : a ^ b;
    const bool both_int32 = number.type() == bson::Type::kInt32 && step.operand.type() == bson::Type::kInt32;
    return both_int32 ? Number(static_cast<int32_t>(result)) : Number(result);
  }

  std::vector<Step> steps_;
};

}  // namespace

Status ParseInc(const Operand& operand, std::vector<Branch>* branches) {
  return ParseArithmetic(operand, ArithmeticOperation::Kind::kAdd, branches);
}

Status ParseMul(const Operand& operand, std::vector<Branch>* branches) {
  return ParseArithmetic(operand, ArithmeticOperation::Kind::kMultiply, branches);
}

Status ParseBit(const Operand& operand, std::vector<Branch>* branches) {
  if (!operand.value.Is(bson::Type::kObject)) {
    return {Code::kBadValue, StrCat("$bit takes a document {and: n, or: n, xor: n}, not a value of type ",
                                    bson::TypeName(operand.value.type()))};
  }
  using Kind = BitOperation::Step::Kind;
  std::vector<BitOperation::Step> steps;
  for (const bson::Element& element : operand.value.AsView()) {
    if (element.name != "and" && element.name != "or" && element.name != "xor") {
      return {Code::kBadValue, StrCat("$bit knows 'and', 'or' and 'xor', not '", element.name, "'")};
    }
    if (!element.value.Is(bson::Type::kInt32) && !element.value.Is(bson::Type::kInt64)) {
      return {Code::kBadValue, StrCat("The operand of $bit must be a 32 or 64 bit integer, not a ",
                                      bson::TypeName(element.value.type()))};
    }
    const Kind kind = element.name == "and" ? Kind::kAnd : element.name == "or" ? Kind::kOr : Kind::kXor;
    steps.push_back({kind, Number::Of(element.value)});
  }
  if (steps.empty()) return {Code::kBadValue, "$bit needs at least one of 'and', 'or' and 'xor'"};
  return AddBranch<BitOperation>(operand, branches, std::move(steps));
}

}  // namespace braid::update
