// Keywords of $jsonSchema that combine schemas: allOf, anyOf, oneOf, not.
#include <algorithm>

#include "base/strings.h"
#include "engine/language/match/schema.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

class ListRule final : public SchemaRule {
 public:
  enum class Kind { kAll, kAny, kOne };
  ListRule(const KeywordCall& call, Kind kind, std::vector<Schema> schemas)
      : SchemaRule(call.keyword, call.operand), kind_(kind), schemas_(std::move(schemas)) {}

  bool Satisfied(const Value& value) const override {
    const auto satisfied = [&](const Schema& schema) { return schema.Satisfied(value); };
    switch (kind_) {
      case Kind::kAll: return std::all_of(schemas_.begin(), schemas_.end(), satisfied);
      case Kind::kAny: return std::any_of(schemas_.begin(), schemas_.end(), satisfied);
      case Kind::kOne: return std::count_if(schemas_.begin(), schemas_.end(), satisfied) == 1;
    }
    return false;
  }

  void Explain(const Value& value, bson::Builder& out) const override {
    const auto satisfied = [&](const Schema& schema) { return schema.Satisfied(value); };
    if (kind_ == Kind::kOne && std::any_of(schemas_.begin(), schemas_.end(), satisfied)) {
      out.Append("reason", "more than one subschema matched").OpenArray("matchingSchemaIndexes");
      for (size_t i = 0; i < schemas_.size(); ++i) {
        if (satisfied(schemas_[i])) out.AppendNext(static_cast<int32_t>(i));
      }
      out.Close();
      return;
    }
    out.OpenArray("schemasNotSatisfied");
    for (size_t i = 0; i < schemas_.size(); ++i) {
      if (satisfied(schemas_[i])) continue;
      out.OpenNextObject().Append("index", static_cast<int32_t>(i));
      schemas_[i].AppendAnnotations(out);
      schemas_[i].ExplainRules("details", value, out);
      out.Close();
    }
    out.Close();
  }

 private:
  const Kind kind_;
  const std::vector<Schema> schemas_;
};

class NotRule final : public SchemaRule {
 public:
  NotRule(const KeywordCall& call, Schema schema)
      : SchemaRule(call.keyword, call.operand), schema_(std::move(schema)) {}
  bool Satisfied(const Value& value) const override { return !schema_.Satisfied(value); }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("child expression matched", value, out);
  }

 private:
  const Schema schema_;
};

}  // namespace

Result<RulePtr> ParseSchemaList(const KeywordCall& call) {
  if (!call.operand.Is(Type::kArray)) return KeywordTypeMismatch(call, "an array");
  if (call.operand.AsView().empty()) {
    return Status(Code::kBadValue, StrCat("$jsonSchema keyword '", call.keyword, "' must be a non-empty array"));
  }
  std::vector<Schema> schemas;
  for (const bson::Element& element : call.operand.AsView()) {
    BRAID_TRY(Schema schema, ParseSubschema(call, element.value));
    schemas.push_back(std::move(schema));
  }
  using Kind = ListRule::Kind;
  const Kind kind = call.keyword == "allOf" ? Kind::kAll : call.keyword == "anyOf" ? Kind::kAny : Kind::kOne;
  return RulePtr(std::make_unique<ListRule>(call, kind, std::move(schemas)));
}

Result<RulePtr> ParseSchemaNot(const KeywordCall& call) {
  BRAID_TRY(Schema schema, ParseSubschema(call, call.operand));
  return RulePtr(std::make_unique<NotRule>(call, std::move(schema)));
}

}  // namespace braid::query
