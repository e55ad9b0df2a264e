// Keywords of $jsonSchema about single values: type, bsonType, enum, minimum, maximum, multipleOf, minLength,
// maxLength, pattern.
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"
#include "engine/language/expression/text.h"
#include "engine/language/match/operands.h"
#include "engine/language/match/regex.h"
#include "engine/language/match/schema.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

class TypeRule final : public SchemaRule {
 public:
  TypeRule(const KeywordCall& call, TypeSet types) : SchemaRule(call.keyword, call.operand), types_(types) {}
  bool Satisfied(const Value& value) const override { return types_.Has(value.type()); }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("type did not match", value, out);
    out.Append("consideredType", bson::TypeName(value.type()));
  }

 private:
  const TypeSet types_;
};

class EnumRule final : public SchemaRule {
 public:
  explicit EnumRule(const KeywordCall& call) : SchemaRule(call.keyword, call.operand) {
    for (const bson::Element& member : specified().AsView()) members_.insert(member.value);
  }
  bool Satisfied(const Value& value) const override { return members_.contains(value); }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("value was not found in enum", value, out);
  }

 private:
  UnorderedValues members_;
};

class BoundRule final : public SchemaRule {
 public:
  BoundRule(const KeywordCall& call, bool exclusive)
      : SchemaRule(call.keyword, call.operand), lower_(call.keyword == "minimum"), exclusive_(exclusive) {}
  bool Satisfied(const Value& value) const override {
    if (!value.IsNumber()) return true;
    const bool nan = bson::Number::Of(value).IsNaN();
    if (nan || bson::Number::Of(specified()).IsNaN()) return !exclusive_ && bson::Equal(value, specified());
    const int order = bson::Compare(value, specified());
    return (order == 0 && !exclusive_) || (lower_ ? order > 0 : order < 0);
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    out.OpenObject("specifiedAs").Append(keyword(), specified());
    if (exclusive_) out.Append(lower_ ? "exclusiveMinimum" : "exclusiveMaximum", true);
    out.Close().Append("reason", "comparison failed").Append("consideredValue", value);
  }

 private:
  const bool lower_;
  const bool exclusive_;
};

class MultipleOfRule final : public SchemaRule {
 public:
  explicit MultipleOfRule(const KeywordCall& call)
      : SchemaRule(call.keyword, call.operand), divisor_(bson::Number::Of(call.operand).ToDecimal()) {}
  bool Satisfied(const Value& value) const override {
    const auto number = bson::NumberOf(value);
    if (!number) return true;
    const bson::Decimal128 rest = bson::decimal::Mod(number->ToDecimal(), divisor_);
    return !bson::decimal::IsNaN(rest) && bson::decimal::IsZero(rest);
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("considered value is not a multiple of the specified value", value, out);
  }

 private:
  const bson::Decimal128 divisor_;
};

class LengthRule final : public SchemaRule {
 public:
  LengthRule(const KeywordCall& call, int64_t bound)
      : SchemaRule(call.keyword, call.operand), bound_(bound), lower_(call.keyword == "minLength") {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kString)) return true;
    const auto characters = static_cast<int64_t>(CountCodePoints(value.AsString()));
    return lower_ ? characters >= bound_ : characters <= bound_;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("specified string length was not satisfied", value, out);
  }

 private:
  const int64_t bound_;
  const bool lower_;
};

class PatternRule final : public SchemaRule {
 public:
  PatternRule(const KeywordCall& call, RegexPtr regex)
      : SchemaRule(call.keyword, call.operand), regex_(std::move(regex)) {}
  bool Satisfied(const Value& value) const override {
    return !value.Is(Type::kString) || regex_->Search(value.AsString()).value_or(false);
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("regular expression did not match", value, out);
  }

 private:
  const RegexPtr regex_;
};

Status AddJsonType(const KeywordCall& call, std::string_view name, TypeSet* types) {
  if (name == "array") {
    types->Add(Type::kArray);
  } else if (name == "boolean") {
    types->Add(Type::kBool);
  } else if (name == "null") {
    types->Add(Type::kNull);
  } else if (name == "number") {
    types->AddNumbers();
  } else if (name == "object") {
    types->Add(Type::kObject);
  } else if (name == "string") {
    types->Add(Type::kString);
  } else if (name == "integer") {
    return KeywordInvalid(call, "'integer' is not currently supported.");
  } else {
    return Status(Code::kBadValue, StrCat("Unknown type name alias: ", name));
  }
  return {};
}

Status AddTypeName(const KeywordCall& call, const Value& name, TypeSet* types) {
  if (!name.Is(Type::kString)) return KeywordTypeMismatch(call, "either a string or an array of strings");
  return call.keyword == "type" ? AddJsonType(call, name.AsString(), types) : types->AddNamed(name);
}

// Members of an array that must not be empty and must differ.
Status CheckDistinct(const KeywordCall& call) {
  const bson::View members = call.operand.AsView();
  if (members.empty()) return KeywordInvalid(call, "cannot be an empty array");
  UnorderedValues seen;
  for (const bson::Element& member : members) {
    if (!seen.insert(member.value).second) return KeywordInvalid(call, "array cannot contain duplicate values");
  }
  return {};
}

}  // namespace

Result<RulePtr> ParseSchemaType(const KeywordCall& call) {
  TypeSet types;
  if (call.operand.Is(Type::kArray)) {
    for (const bson::Element& name : call.operand.AsView()) BRAID_CHECK_OK(AddTypeName(call, name.value, &types));
    BRAID_CHECK_OK(CheckDistinct(call));
  } else {
    BRAID_CHECK_OK(AddTypeName(call, call.operand, &types));
  }
  return RulePtr(std::make_unique<TypeRule>(call, types));
}

Result<RulePtr> ParseSchemaEnum(const KeywordCall& call) {
  if (!call.operand.Is(Type::kArray)) return KeywordTypeMismatch(call, "an array");
  BRAID_CHECK_OK(CheckDistinct(call));
  return RulePtr(std::make_unique<EnumRule>(call));
}

Result<RulePtr> ParseSchemaBound(const KeywordCall& call) {
  if (!call.operand.IsNumber()) return KeywordTypeMismatch(call, "a number");
  const Value exclusive = call.schema.Find(call.keyword == "minimum" ? "exclusiveMinimum" : "exclusiveMaximum");
  return RulePtr(std::make_unique<BoundRule>(call, exclusive.Is(Type::kBool) && exclusive.AsBool()));
}

Result<RulePtr> ParseSchemaExclusive(const KeywordCall& call) {
  if (!call.operand.Is(Type::kBool)) return KeywordTypeMismatch(call, "a boolean");
  const std::string_view bound = call.keyword == "exclusiveMinimum" ? "minimum" : "maximum";
  if (!call.schema.Has(bound)) return KeywordInvalid(call, StrCat("must be accompanied by the keyword '", bound, "'"));
  return RulePtr();  // read together with the bound
}

Result<RulePtr> ParseSchemaMultipleOf(const KeywordCall& call) {
  if (!call.operand.IsNumber()) return KeywordTypeMismatch(call, "a number");
  const bson::Decimal128 divisor = bson::Number::Of(call.operand).ToDecimal();
  if (bson::decimal::IsNaN(divisor) || bson::decimal::IsNegative(divisor) || bson::decimal::IsZero(divisor)) {
    return KeywordInvalid(call, "must have a positive value");
  }
  return RulePtr(std::make_unique<MultipleOfRule>(call));
}

Result<RulePtr> ParseSchemaLength(const KeywordCall& call) {
  BRAID_TRY(const int64_t bound, NonNegativeInteger(call.keyword, call.operand));
  return RulePtr(std::make_unique<LengthRule>(call, bound));
}

Result<RulePtr> ParseSchemaPattern(const KeywordCall& call) {
  if (!call.operand.Is(Type::kString)) return KeywordTypeMismatch(call, "a string");
  BRAID_TRY(RegexPtr regex, CompileRegex(call.operand.AsString(), ""));
  return RulePtr(std::make_unique<PatternRule>(call, std::move(regex)));
}

}  // namespace braid::query
