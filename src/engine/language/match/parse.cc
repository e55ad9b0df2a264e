// Takes a filter apart: fields, operator documents, equalities. Each operator is parsed by its family's file.
#include "engine/language/match/parse.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/validate.h"

namespace braid::query {

namespace {

constexpr int kDepthMax = 100;

bool StartsWithDollar(std::string_view name) { return !name.empty() && name.front() == '$'; }

// {$ref: …, $id: …} is a value, not a document of operators.
bool IsDbRefField(std::string_view name) { return name == "$ref" || name == "$id" || name == "$db"; }

bool IsDbRef(bson::View document) {
  return IsDbRefField(document.begin()->name) && document.Has("$ref") && document.Has("$id");
}

Result<NodePtr> ParseTopOperator(const bson::Element& field, bson::View siblings, const ParseContext& context) {
  BRAID_TRY(const ParseOperator parse, FindTopOperator(field.name));
  if (parse == nullptr) {
    return BadValue(
        StrCat("unknown top level operator: ", field.name,
               ". If you have a field name that starts with a '$' symbol, consider using $getField or $setField."));
  }
  return parse({{}, field.name, field.value, siblings, context});
}

// The fields of a DBRef are fields although they look like operators, and are compared as they are.
Result<NodePtr> ParseField(const bson::Element& field, bson::View siblings, const ParseContext& context) {
  if (IsDbRefField(field.name)) return MakeEquality(field.name, field.value, context);
  if (StartsWithDollar(field.name)) return ParseTopOperator(field, siblings, context);
  return ParsePredicate(field.name, field.value, context);
}

}  // namespace

Status BadValue(std::string_view message) { return Status(Code::kBadValue, std::string(message)); }

bool IsOperatorDocument(const bson::Value& value) {
  if (!value.Is(bson::Type::kObject)) return false;
  const bson::View document = value.AsView();
  return !document.empty() && StartsWithDollar(document.begin()->name) && !IsDbRef(document);
}

Result<NodePtr> ParseDocument(bson::View specification, const ParseContext& context) {
  if (context.depth > kDepthMax) return BadValue(StrCat("exceeded maximum query tree depth of ", kDepthMax));
  NodeList children;
  for (const bson::Element& field : specification) {
    BRAID_TRY(NodePtr child, ParseField(field, specification, context));
    if (child != nullptr) children.push_back(std::move(child));
  }
  return MakeAnd(std::move(children));
}

Result<NodePtr> ParsePredicate(std::string_view path, const bson::Value& value, const ParseContext& context) {
  if (static_cast<size_t>(std::ranges::count(path, '.')) >= bson::kFilterPathComponentsMax) {
    return Status(Location(5729100), StrCat("FieldPath is too long: a filter's path has at most ",
                                            bson::kFilterPathComponentsMax, " components"));
  }
  if (value.Is(bson::Type::kRegex)) return MakeRegex(path, value.AsRegex());
  if (!IsOperatorDocument(value)) return MakeEquality(path, value, context);
  BRAID_TRY(NodeList conditions, ParseConditions(path, value.AsView(), context));
  return MakeAnd(std::move(conditions));
}

Result<NodeList> ParseConditions(std::string_view path, bson::View operators, const ParseContext& context) {
  if (context.depth > kDepthMax) return BadValue(StrCat("exceeded maximum query tree depth of ", kDepthMax));
  NodeList conditions;
  for (const bson::Element& field : operators) {
    BRAID_TRY(const ParseOperator parse, FindPathOperator(field.name));
    if (parse == nullptr) return BadValue(StrCat("unknown operator: ", field.name));
    BRAID_TRY(NodePtr node, parse({path, field.name, field.value, operators, context}));
    if (node != nullptr) conditions.push_back(std::move(node));
  }
  return conditions;
}

}  // namespace braid::query
