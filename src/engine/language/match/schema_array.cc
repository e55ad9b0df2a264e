// Keywords of $jsonSchema about arrays: items, additionalItems, minItems, maxItems, uniqueItems.
#include <algorithm>
#include <optional>

#include "engine/bson/compare.h"
#include "engine/language/match/operands.h"
#include "engine/language/match/schema.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

// Elements from `first` on must meet a schema: one for all of them, or (a list) each its own.
class ItemsRule final : public SchemaRule {
 public:
  ItemsRule(const KeywordCall& call, std::vector<Schema> schemas, bool list, size_t first)
      : SchemaRule(call.keyword, call.operand), schemas_(std::move(schemas)), list_(list), first_(first) {}
  bool Satisfied(const Value& value) const override { return !value.Is(Type::kArray) || !FirstFailure(value); }
  void Explain(const Value& value, bson::Builder& out) const override {
    const size_t index = *FirstFailure(value);
    out.Append("reason", "At least one item did not match the sub-schema");
    out.Append("itemIndex", static_cast<int64_t>(index));
    SchemaOf(index).ExplainRules("details", value.AsView().At(index), out);
  }

 private:
  const Schema& SchemaOf(size_t index) const { return list_ ? schemas_[index] : schemas_.front(); }
  std::optional<size_t> FirstFailure(const Value& array) const {
    size_t index = 0;
    for (const bson::Element& element : array.AsView()) {
      if (list_ && index == schemas_.size()) break;
      if (index >= first_ && !SchemaOf(index).Satisfied(element.value)) return index;
      ++index;
    }
    return std::nullopt;
  }
  const std::vector<Schema> schemas_;
  const bool list_;
  const size_t first_;
};

// additionalItems: false.
class NoMoreItemsRule final : public SchemaRule {
 public:
  NoMoreItemsRule(const KeywordCall& call, size_t allowed)
      : SchemaRule(call.keyword, call.operand), allowed_(allowed) {}
  bool Satisfied(const Value& value) const override {
    return !value.Is(Type::kArray) || value.AsView().Count() <= allowed_;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendSpecified(out);
    out.Append("reason", "found additional items").OpenArray("additionalItems");
    size_t index = 0;
    for (const bson::Element& element : value.AsView()) {
      if (index++ >= allowed_) out.AppendNext(element.value);
    }
    out.Close();
  }

 private:
  const size_t allowed_;
};

class ItemCountRule final : public SchemaRule {
 public:
  ItemCountRule(const KeywordCall& call, int64_t bound)
      : SchemaRule(call.keyword, call.operand), bound_(bound), lower_(call.keyword == "minItems") {}
  bool Satisfied(const Value& value) const override {
    if (!value.Is(Type::kArray)) return true;
    const auto count = static_cast<int64_t>(value.AsView().Count());
    return lower_ ? count >= bound_ : count <= bound_;
  }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("array did not match specified length", value, out);
  }

 private:
  const int64_t bound_;
  const bool lower_;
};

class UniqueItemsRule final : public SchemaRule {
 public:
  explicit UniqueItemsRule(const KeywordCall& call) : SchemaRule(call.keyword, call.operand) {}
  bool Satisfied(const Value& value) const override { return !value.Is(Type::kArray) || Duplicate(value).missing(); }
  void Explain(const Value& value, bson::Builder& out) const override {
    AppendReason("found a duplicate item", value, out);
    out.Append("duplicatedValue", Duplicate(value));
  }

 private:
  // The first element that equals one before it; missing if none does.
  static Value Duplicate(const Value& array) {
    UnorderedValues seen;
    for (const bson::Element& element : array.AsView()) {
      if (!seen.insert(element.value).second) return element.value;
    }
    return {};
  }
};

}  // namespace

Result<RulePtr> ParseSchemaItems(const KeywordCall& call) {
  std::vector<Schema> schemas;
  const bool list = call.operand.Is(Type::kArray);
  if (!list && !call.operand.Is(Type::kObject)) return KeywordTypeMismatch(call, "an array or an object");
  if (list) {
    for (const bson::Element& item : call.operand.AsView()) {
      BRAID_TRY(Schema schema, ParseSubschema(call, item.value));
      schemas.push_back(std::move(schema));
    }
  } else {
    BRAID_TRY(Schema schema, ParseSubschema(call, call.operand));
    schemas.push_back(std::move(schema));
  }
  return RulePtr(std::make_unique<ItemsRule>(call, std::move(schemas), list, 0));
}

Result<RulePtr> ParseSchemaAdditionalItems(const KeywordCall& call) {
  const bool object = call.operand.Is(Type::kObject);
  if (!object && !call.operand.Is(Type::kBool)) return KeywordTypeMismatch(call, "either an object or a boolean");
  std::vector<Schema> schemas;
  if (object) {
    BRAID_TRY(Schema schema, ParseSubschema(call, call.operand));
    schemas.push_back(std::move(schema));
  }
  // Without a list of items there are none that could be additional.
  const Value items = call.schema.Find("items");
  if (!items.Is(Type::kArray) || (!object && call.operand.AsBool())) return RulePtr();
  const size_t listed = items.AsView().Count();
  if (object) return RulePtr(std::make_unique<ItemsRule>(call, std::move(schemas), false, listed));
  return RulePtr(std::make_unique<NoMoreItemsRule>(call, listed));
}

Result<RulePtr> ParseSchemaItemCount(const KeywordCall& call) {
  BRAID_TRY(const int64_t bound, NonNegativeInteger(call.keyword, call.operand));
  return RulePtr(std::make_unique<ItemCountRule>(call, bound));
}

Result<RulePtr> ParseSchemaUniqueItems(const KeywordCall& call) {
  if (!call.operand.Is(Type::kBool)) return KeywordTypeMismatch(call, "a boolean");
  if (!call.operand.AsBool()) return RulePtr();
  return RulePtr(std::make_unique<UniqueItemsRule>(call));
}

}  // namespace braid::query
