#include "engine/language/match/schema.h"

#include <algorithm>
#include <functional>

#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/compare.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

struct Keyword {
  std::string_view name;
  ParseKeyword parse;
};

// Sorted, checked below.
constexpr Keyword kKeywords[] = {
    {"additionalItems", ParseSchemaAdditionalItems},
    {"additionalProperties", ParseSchemaAdditionalProperties},
    {"allOf", ParseSchemaList},
    {"anyOf", ParseSchemaList},
    {"bsonType", ParseSchemaType},
    {"dependencies", ParseSchemaDependencies},
    {"description", ParseSchemaAnnotation},
    {"enum", ParseSchemaEnum},
    {"exclusiveMaximum", ParseSchemaExclusive},
    {"exclusiveMinimum", ParseSchemaExclusive},
    {"items", ParseSchemaItems},
    {"maxItems", ParseSchemaItemCount},
    {"maxLength", ParseSchemaLength},
    {"maxProperties", ParseSchemaPropertyCount},
    {"maximum", ParseSchemaBound},
    {"minItems", ParseSchemaItemCount},
    {"minLength", ParseSchemaLength},
    {"minProperties", ParseSchemaPropertyCount},
    {"minimum", ParseSchemaBound},
    {"multipleOf", ParseSchemaMultipleOf},
    {"not", ParseSchemaNot},
    {"oneOf", ParseSchemaList},
    {"pattern", ParseSchemaPattern},
    {"patternProperties", ParseSchemaPatternProperties},
    {"properties", ParseSchemaProperties},
    {"required", ParseSchemaRequired},
    {"title", ParseSchemaAnnotation},
    {"type", ParseSchemaType},
    {"uniqueItems", ParseSchemaUniqueItems},
};
static_assert(std::is_sorted(std::begin(kKeywords), std::end(kKeywords),
                             [](auto& a, auto& b) { return a.name < b.name; }));

// JSON Schema has these (and MongoDB the encryption), Braid does not.
constexpr std::string_view kRefusedKeywords[] = {"$ref",    "$schema",         "default", "definitions",
                                                 "encrypt", "encryptMetadata", "format",  "id"};
static_assert(std::is_sorted(std::begin(kRefusedKeywords), std::end(kRefusedKeywords)));

Result<ParseKeyword> FindKeyword(std::string_view name) {
  const Keyword* it = std::lower_bound(std::begin(kKeywords), std::end(kKeywords), name,
                                       [](const Keyword& entry, std::string_view key) { return entry.name < key; });
  if (it != std::end(kKeywords) && it->name == name) return it->parse;
  if (std::binary_search(std::begin(kRefusedKeywords), std::end(kRefusedKeywords), name)) {
    return Status(Code::kFailedToParse, StrCat("$jsonSchema keyword '", name, "' is not currently supported"));
  }
  return Status(Code::kFailedToParse, StrCat("Unknown $jsonSchema keyword: ", name));
}

}  // namespace

void SchemaRule::AppendSpecified(bson::Builder& out) const {
  out.OpenObject("specifiedAs").Append(keyword_, specified_).Close();
}

void SchemaRule::AppendReason(std::string_view reason, const Value& value, bson::Builder& out) const {
  AppendSpecified(out);
  out.Append("reason", reason).Append("consideredValue", value);
}

Result<Schema> Schema::Parse(bson::View specification) {
  Schema schema;
  bson::Builder annotations;
  for (const bson::Element& field : specification) {
    BRAID_TRY(const ParseKeyword parse, FindKeyword(field.name));
    BRAID_TRY(RulePtr rule, parse({field.name, field.value, specification}));
    if (rule != nullptr) schema.rules_.push_back(std::move(rule));
    if (parse == ParseSchemaAnnotation) annotations.Append(field.name, field.value);
  }
  if (specification.Has("type") && specification.Has("bsonType")) {
    return Status(Code::kFailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'");
  }
  schema.annotations_ = annotations.Finish();
  return schema;
}

bool Schema::Satisfied(const Value& value) const {
  Work& work = Work::Current();
  return std::all_of(rules_.begin(), rules_.end(),
                     [&](const RulePtr& rule) { return work.GoesOn() && rule->Satisfied(value); });
}

void Schema::AppendAnnotations(bson::Builder& out) const { out.AppendAll(annotations_); }

void Schema::ExplainRules(std::string_view name, const Value& value, bson::Builder& out) const {
  out.OpenArray(name);
  for (const RulePtr& rule : rules_) {
    if (rule->Satisfied(value)) continue;
    out.OpenNextObject().Append("operatorName", rule->keyword());
    rule->Explain(value, out);
    out.Close();
  }
  out.Close();
}

Status KeywordTypeMismatch(const KeywordCall& call, std::string_view must_be) {
  return Status(Code::kTypeMismatch, StrCat("$jsonSchema keyword '", call.keyword, "' must be ", must_be));
}

Status KeywordInvalid(const KeywordCall& call, std::string_view what) {
  return Status(Code::kFailedToParse, StrCat("$jsonSchema keyword '", call.keyword, "' ", what));
}

Result<Schema> ParseSubschema(const KeywordCall& call, const Value& operand) {
  if (!operand.Is(Type::kObject)) return KeywordTypeMismatch(call, "an object");
  return Schema::Parse(operand.AsView());
}

Result<RulePtr> ParseSchemaAnnotation(const KeywordCall& call) {
  if (!call.operand.Is(Type::kString)) return KeywordTypeMismatch(call, "a string");
  return RulePtr();
}

bool EqualUnordered(const Value& a, const Value& b) {
  if (a.Is(Type::kObject) && b.Is(Type::kObject)) {
    const bson::View other = b.AsView();
    if (a.AsView().Count() != other.Count()) return false;
    for (const bson::Element& field : a.AsView()) {
      const Value match = other.Find(field.name);
      if (match.missing() || !EqualUnordered(field.value, match)) return false;
    }
    return true;
  }
  if (a.Is(Type::kArray) && b.Is(Type::kArray)) {
    auto left = a.AsView().begin();
    auto right = b.AsView().begin();
    for (; left != a.AsView().end() && right != b.AsView().end(); ++left, ++right) {
      if (!EqualUnordered(left->value, right->value)) return false;
    }
    return left == a.AsView().end() && right == b.AsView().end();
  }
  return bson::Equal(a, b);
}

size_t HashUnordered(const Value& value) {
  constexpr size_t kFactor = 0x9E3779B97F4A7C15;
  size_t hash = static_cast<size_t>(value.type());
  if (value.Is(Type::kObject)) {
    for (const bson::Element& field : value.AsView()) {
      const size_t each = std::hash<std::string_view>()(field.name) * kFactor ^ HashUnordered(field.value);
      hash += (each ^ (each >> 29)) * kFactor;
    }
    return hash;
  }
  if (!value.Is(Type::kArray)) return bson::HashOf(value);
  for (const bson::Element& element : value.AsView()) {
    hash = (hash ^ (hash >> 29)) * kFactor + HashUnordered(element.value);
  }
  return hash;
}

SchemaKeywordNames SchemaKeywords() {
  SchemaKeywordNames names;
  for (const Keyword& keyword : kKeywords) names.supported.push_back(keyword.name);
  names.refused.assign(std::begin(kRefusedKeywords), std::end(kRefusedKeywords));
  return names;
}

}  // namespace braid::query
