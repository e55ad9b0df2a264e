// Schema: one (sub)schema of $jsonSchema as a list of rules, one for each keyword that restricts values.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "braid/status.h"
#include "engine/bson/builder.h"
#include "engine/bson/value.h"

namespace braid::query {

/// A keyword with its operand. A rule about one type holds for values of every other type. Immutable; any thread.
class SchemaRule {
 public:
  SchemaRule(std::string_view keyword, const bson::Value& specified) : keyword_(keyword), specified_(specified) {}
  virtual ~SchemaRule() = default;

  std::string_view keyword() const { return keyword_; }
  bson::Value specified() const { return specified_; }

  virtual bool Satisfied(const bson::Value& value) const = 0;
  /// Appends to the explanation of a failure what follows its operatorName.
  virtual void Explain(const bson::Value& value, bson::Builder& out) const = 0;

 protected:
  void AppendSpecified(bson::Builder& out) const;
  /// Appends specifiedAs, reason and consideredValue, as most rules do.
  void AppendReason(std::string_view reason, const bson::Value& value, bson::Builder& out) const;

 private:
  const std::string keyword_;
  const bson::OwnedValue specified_;
};

using RulePtr = std::unique_ptr<const SchemaRule>;

class Schema {
 public:
  /// kFailedToParse for a keyword that is unknown or not supported and for contradictions, kTypeMismatch for an operand
  /// of a wrong type.
  static Result<Schema> Parse(bson::View specification);

  bool Satisfied(const bson::Value& value) const;
  /// Appends title and description, if the schema has them.
  void AppendAnnotations(bson::Builder& out) const;
  /// Appends an array `name` with one document for each rule that the value breaks.
  void ExplainRules(std::string_view name, const bson::Value& value, bson::Builder& out) const;

 private:
  std::vector<RulePtr> rules_;
  bson::Document annotations_;
};

/// One keyword as it stands in a schema.
struct KeywordCall {
  std::string_view keyword;
  bson::Value operand;
  bson::View schema;  // the whole, for keywords that look at their neighbours
};

/// The rule; null if the keyword restricts nothing by itself.
using ParseKeyword = Result<RulePtr> (*)(const KeywordCall& call);

/// kTypeMismatch: $jsonSchema keyword 'x' must be …
Status KeywordTypeMismatch(const KeywordCall& call, std::string_view must_be);
/// kFailedToParse: $jsonSchema keyword 'x' …
Status KeywordInvalid(const KeywordCall& call, std::string_view what);
/// An operand that is a schema; kTypeMismatch if it is not a document.
Result<Schema> ParseSubschema(const KeywordCall& call, const bson::Value& operand);

/// Equal without regard to the order of fields in documents, as enum and uniqueItems compare.
bool EqualUnordered(const bson::Value& a, const bson::Value& b);
/// A hash that is equal for values that are equal in this sense.
size_t HashUnordered(const bson::Value& value);

struct UnorderedHash {
  size_t operator()(const bson::Value& value) const { return HashUnordered(value); }
};
struct UnorderedEqual {
  bool operator()(const bson::Value& a, const bson::Value& b) const { return EqualUnordered(a, b); }
};
using UnorderedValues = std::unordered_set<bson::Value, UnorderedHash, UnorderedEqual>;

// The keywords, by family.
Result<RulePtr> ParseSchemaType(const KeywordCall& call);        // bsonType type
Result<RulePtr> ParseSchemaEnum(const KeywordCall& call);        //
Result<RulePtr> ParseSchemaBound(const KeywordCall& call);       // minimum maximum
Result<RulePtr> ParseSchemaExclusive(const KeywordCall& call);   // exclusiveMinimum exclusiveMaximum
Result<RulePtr> ParseSchemaMultipleOf(const KeywordCall& call);  //
Result<RulePtr> ParseSchemaLength(const KeywordCall& call);      // minLength maxLength
Result<RulePtr> ParseSchemaPattern(const KeywordCall& call);     //
Result<RulePtr> ParseSchemaProperties(const KeywordCall& call);  //
Result<RulePtr> ParseSchemaPatternProperties(const KeywordCall& call);
Result<RulePtr> ParseSchemaAdditionalProperties(const KeywordCall& call);
Result<RulePtr> ParseSchemaRequired(const KeywordCall& call);
Result<RulePtr> ParseSchemaPropertyCount(const KeywordCall& call);  // minProperties maxProperties
Result<RulePtr> ParseSchemaDependencies(const KeywordCall& call);
Result<RulePtr> ParseSchemaItems(const KeywordCall& call);
Result<RulePtr> ParseSchemaAdditionalItems(const KeywordCall& call);
Result<RulePtr> ParseSchemaItemCount(const KeywordCall& call);  // minItems maxItems
Result<RulePtr> ParseSchemaUniqueItems(const KeywordCall& call);
Result<RulePtr> ParseSchemaList(const KeywordCall& call);  // allOf anyOf oneOf
Result<RulePtr> ParseSchemaNot(const KeywordCall& call);
Result<RulePtr> ParseSchemaAnnotation(const KeywordCall& call);  // title description

/// The keywords, sorted, for the documentation and its test.
struct SchemaKeywordNames {
  std::vector<std::string_view> supported;
  std::vector<std::string_view> refused;
};
SchemaKeywordNames SchemaKeywords();

}  // namespace braid::query
