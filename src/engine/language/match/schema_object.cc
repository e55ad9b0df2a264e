// Keywords of $jsonSchema about documents: properties, patternProperties, additionalProperties, required,
// minProperties, maxProperties, dependencies.
#include <algorithm>
#include <optional>
#include <set>

#include "base/strings.h"
#include "base/work.h"
#include "engine/language/match/operands.h"
#include "engine/language/match/regex.h"
#include "engine/language/match/schema.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

struct NamedSchema {
  std::string name;
  Schema schema;
};

void ExplainProperty(const NamedSchema& named, std::string_view property, const Value& value, bson::Builder& out) {
  out.OpenNextObject().Append("propertyName", property);
  if (named.name != property) out.Append("regexMatched", named.name);
  named.schema.AppendAnnotations(out);
  named.schema.ExplainRules("details", value, out);
  out.Close();
}

class PropertiesRule final : public SchemaRule {
 public:
  PropertiesRule(const KeywordCall& call, std::vector<NamedSchema> properties)
      : SchemaRule(call.keyword, call.operand), properties_(std::move(properties)) {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kObject)) return true;
    Work& work = Work::Current();
    return std::all_of(properties_.begin(), properties_.end(), [&](const NamedSchema& property) {
      if (!work.GoesOn(StepsFor(value.bytes().size()))) return false;
      const Value field = value.AsView().Find(property.name);
      return field.missing() || property.schema.Satisfied(field);
    });
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    out.OpenArray("propertiesNotSatisfied");
    for (const NamedSchema& property : properties_) {
      const Value field = value.AsView().Find(property.name);
      if (!field.missing() && !property.schema.Satisfied(field)) ExplainProperty(property, property.name, field, out);
    }
    out.Close();
  }

 private:
  const std::vector<NamedSchema> properties_;
};

struct PatternSchema {
  RegexPtr regex;
  NamedSchema named;
};

class PatternPropertiesRule final : public SchemaRule {
 public:
  PatternPropertiesRule(const KeywordCall& call, std::vector<PatternSchema> patterns)
      : SchemaRule(call.keyword, call.operand), patterns_(std::move(patterns)) {}
  bool Satisfied(const Value& value) const override {
    bool satisfied = true;
    ForEachFailure(value, [&](const auto&...) { satisfied = false; });
    return satisfied;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    out.OpenArray("propertiesNotSatisfied");
    ForEachFailure(value, [&](const NamedSchema& named, const bson::Element& field) {
      ExplainProperty(named, field.name, field.value, out);
    });
    out.Close();
  }

 private:
  template <typename Visit>
  void ForEachFailure(const Value& value, Visit&& visit) const {
    if (!value.Is(Type::kObject)) return;
    for (const bson::Element& field : value.AsView()) {
      for (const PatternSchema& pattern : patterns_) {
        if (!pattern.regex->Search(field.name).value_or(false)) continue;
        if (!pattern.named.schema.Satisfied(field.value)) visit(pattern.named, field);
      }
    }
  }
  const std::vector<PatternSchema> patterns_;
};

// The fields that neither properties nor patternProperties name.
class AdditionalPropertiesRule final : public SchemaRule {
 public:
  AdditionalPropertiesRule(const KeywordCall& call, std::set<std::string, std::less<>> names,
                           std::vector<RegexPtr> patterns, std::optional<Schema> schema)
      : SchemaRule(call.keyword, call.operand),
        names_(std::move(names)),
        patterns_(std::move(patterns)),
        schema_(std::move(schema)) {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kObject)) return true;
    for (const bson::Element& field : value.AsView()) {
      if (Fails(field)) return false;
    }
    return true;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendSpecified(out);
    if (!schema_) {
      out.OpenArray("additionalProperties");
      for (const bson::Element& field : value.AsView()) {
        if (Fails(field)) out.AppendNext(field.name);
      }
      out.Close();
      return;
    }
    for (const bson::Element& field : value.AsView()) {
      if (!Fails(field)) continue;
      out.Append("reason", "at least one additional property did not match the subschema");
      out.Append("failingProperty", field.name);
      schema_->ExplainRules("details", field.value, out);
      return;
    }
  }

 private:
  bool Fails(const bson::Element& field) const {
    if (names_.contains(field.name)) return false;
    for (const RegexPtr& pattern : patterns_) {
      if (pattern->Search(field.name).value_or(false)) return false;
    }
    return !schema_ || !schema_->Satisfied(field.value);
  }
  const std::set<std::string, std::less<>> names_;
  const std::vector<RegexPtr> patterns_;
  const std::optional<Schema> schema_;  // none: no further fields are allowed
};

class RequiredRule final : public SchemaRule {
 public:
  explicit RequiredRule(const KeywordCall& call) : SchemaRule(call.keyword, call.operand) {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kObject)) return true;
    Work& work = Work::Current();
    for (const bson::Element& name : specified().AsView()) {
      if (!work.GoesOn(StepsFor(value.bytes().size()))) return false;
      if (!value.AsView().Has(name.value.AsString())) return false;
    }
    return true;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendSpecified(out);
    out.OpenArray("missingProperties");
    for (const bson::Element& name : specified().AsView()) {
      if (!value.AsView().Has(name.value.AsString())) out.AppendNext(name.value);
    }
    out.Close();
  }
};

class PropertyCountRule final : public SchemaRule {
 public:
  PropertyCountRule(const KeywordCall& call, int64_t bound)
      : SchemaRule(call.keyword, call.operand), bound_(bound), lower_(call.keyword == "minProperties") {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kObject)) return true;
    const auto count = static_cast<int64_t>(value.AsView().Count());
    return lower_ ? count >= bound_ : count <= bound_;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("specified number of properties was not satisfied", value, out);
    out.Append("numberOfProperties", static_cast<int64_t>(value.AsView().Count()));
  }

 private:
  const int64_t bound_;
  const bool lower_;
};

// A field that, if it is there, needs other fields or makes a schema apply to the document.
struct Dependency {
  std::string field;
  std::vector<std::string> required;
  std::optional<Schema> schema;

  bool Holds(const Value& object) const {
    if (!object.AsView().Has(field)) return true;
    if (schema) return schema->Satisfied(object);
    return std::all_of(required.begin(), required.end(),
                       [&](const std::string& name) { return object.AsView().Has(name); });
  }
};

class DependenciesRule final : public SchemaRule {
 public:
  DependenciesRule(const KeywordCall& call, std::vector<Dependency> dependencies)
      : SchemaRule(call.keyword, call.operand), dependencies_(std::move(dependencies)) {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kObject)) return true;
    Work& work = Work::Current();
    return std::all_of(dependencies_.begin(), dependencies_.end(), [&](const Dependency& dependency) {
      return work.GoesOn(StepsFor(value.bytes().size())) && dependency.Holds(value);
    });
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    out.OpenArray("failingDependencies");
    for (const Dependency& dependency : dependencies_) {
      if (dependency.Holds(value)) continue;
      out.OpenNextObject().Append("conditionalProperty", dependency.field);
      if (dependency.schema) {
        dependency.schema->ExplainRules("details", value, out);
      } else {
        out.OpenArray("missingProperties");
        for (const std::string& name : dependency.required) {
          if (!value.AsView().Has(name)) out.AppendNext(name);
        }
        out.Close();
      }
      out.Close();
    }
    out.Close();
  }

 private:
  const std::vector<Dependency> dependencies_;
};

// A non-empty array of different strings.
Result<std::vector<std::string>> FieldNames(const KeywordCall& call, const Value& operand) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const bson::Element& name : operand.AsView()) {
    if (!name.value.Is(Type::kString)) return KeywordTypeMismatch(call, "an array of strings");
    names.emplace_back(name.value.AsString());
    if (!seen.insert(name.value.AsString()).second) {
      return KeywordInvalid(call, "array cannot contain duplicate values");
    }
  }
  if (names.empty()) return KeywordInvalid(call, "cannot be an empty array");
  return names;
}

}  // namespace

Result<RulePtr> ParseSchemaProperties(const KeywordCall& call) {
  if (!call.operand.Is(Type::kObject)) return KeywordTypeMismatch(call, "an object");
  std::vector<NamedSchema> properties;
  for (const bson::Element& property : call.operand.AsView()) {
    BRAID_TRY(Schema schema, ParseSubschema(call, property.value));
    properties.push_back({std::string(property.name), std::move(schema)});
  }
  return RulePtr(std::make_unique<PropertiesRule>(call, std::move(properties)));
}

Result<RulePtr> ParseSchemaPatternProperties(const KeywordCall& call) {
  if (!call.operand.Is(Type::kObject)) return KeywordTypeMismatch(call, "an object");
  std::vector<PatternSchema> patterns;
  for (const bson::Element& pattern : call.operand.AsView()) {
    BRAID_TRY(Schema schema, ParseSubschema(call, pattern.value));
    BRAID_TRY(RegexPtr regex, CompileRegex(pattern.name, ""));
    patterns.push_back({std::move(regex), {std::string(pattern.name), std::move(schema)}});
  }
  return RulePtr(std::make_unique<PatternPropertiesRule>(call, std::move(patterns)));
}

Result<RulePtr> ParseSchemaAdditionalProperties(const KeywordCall& call) {
  std::optional<Schema> schema;
  if (call.operand.Is(Type::kObject)) {
    BRAID_TRY(schema, ParseSubschema(call, call.operand));
  } else if (!call.operand.Is(Type::kBool)) {
    return KeywordTypeMismatch(call, "an object or a boolean");
  } else if (call.operand.AsBool()) {
    return RulePtr();
  }
  std::set<std::string, std::less<>> names;
  std::vector<RegexPtr> patterns;
  if (const Value named = call.schema.Find("properties"); named.Is(Type::kObject)) {
    for (const bson::Element& property : named.AsView()) names.emplace(property.name);
  }
  if (const Value named = call.schema.Find("patternProperties"); named.Is(Type::kObject)) {
    for (const bson::Element& pattern : named.AsView()) {
      BRAID_TRY(RegexPtr regex, CompileRegex(pattern.name, ""));
      patterns.push_back(std::move(regex));
    }
  }
  return RulePtr(
      std::make_unique<AdditionalPropertiesRule>(call, std::move(names), std::move(patterns), std::move(schema)));
}

Result<RulePtr> ParseSchemaRequired(const KeywordCall& call) {
  if (!call.operand.Is(Type::kArray)) return KeywordTypeMismatch(call, "an array");
  BRAID_CHECK_OK(FieldNames(call, call.operand));
  return RulePtr(std::make_unique<RequiredRule>(call));
}

Result<RulePtr> ParseSchemaPropertyCount(const KeywordCall& call) {
  BRAID_TRY(const int64_t bound, NonNegativeInteger(call.keyword, call.operand));
  return RulePtr(std::make_unique<PropertyCountRule>(call, bound));
}

Result<RulePtr> ParseSchemaDependencies(const KeywordCall& call) {
  if (!call.operand.Is(Type::kObject)) return KeywordTypeMismatch(call, "an object");
  std::vector<Dependency> dependencies;
  for (const bson::Element& field : call.operand.AsView()) {
    Dependency dependency{std::string(field.name), {}, std::nullopt};
    if (field.value.Is(Type::kObject)) {
      BRAID_TRY(dependency.schema, ParseSubschema(call, field.value));
    } else if (field.value.Is(Type::kArray)) {
      BRAID_TRY(dependency.required, FieldNames(call, field.value));
    } else {
      return KeywordTypeMismatch(call, "an object whose fields are objects or arrays");
    }
    dependencies.push_back(std::move(dependency));
  }
  return RulePtr(std::make_unique<DependenciesRule>(call, std::move(dependencies)));
}

}  // namespace braid::query
