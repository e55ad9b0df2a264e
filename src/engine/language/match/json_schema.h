// $jsonSchema as a node of a filter, and why a document does not meet a validator.
#pragma once

#include "base/work.h"
#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/language/match/filter.h"
#include "engine/language/match/match_node.h"
#include "engine/language/match/schema.h"

namespace braid::query {

class JsonSchemaNode final : public MatchNode {
 public:
  JsonSchemaNode(const bson::Value& operand, Schema schema)
      : MatchNode(MatchOp::kJsonSchema), operand_(operand), schema_(std::move(schema)) {}
  bson::Value operand() const override { return operand_; }
  const Schema& schema() const { return schema_; }

  Result<bool> Matches(bson::View document, MatchDetails*) const override {
    return MatchesElement(bson::Value(document));
  }
  Result<bool> MatchesElement(const bson::Value& element) const override {
    if (schema_.Satisfied(element)) return true;
    BRAID_CHECK_OK(Work::Current().Check());  // it may only have been interrupted
    return false;
  }
  void AppendTo(bson::Builder& out) const override { out.Append("$jsonSchema", operand_); }
  void AppendCondition(bson::Builder& out) const override { AppendTo(out); }

 private:
  const bson::OwnedValue operand_;
  const Schema schema_;
};

/// What a failed write shows as errInfo.details: the parts of the validator that the document, which it does not match,
/// breaks. {operatorName: "$jsonSchema", schemaRulesNotSatisfied: […]} for a schema, {operatorName, specifiedAs,
/// reason, consideredValue} for a condition, {operatorName: "$and", clausesNotSatisfied: [{index, details}]} for a
/// list.
bson::Document ExplainMismatch(const Filter& validator, bson::View document);

}  // namespace braid::query
