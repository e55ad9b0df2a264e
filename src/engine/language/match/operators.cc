// The operators of the query language: supported, and known but refused.
#include <algorithm>
#include <span>

#include "base/strings.h"
#include "engine/language/match/filter.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

struct Operator {
  std::string_view name;
  ParseOperator parse;
};

// Behind a path. Sorted, checked by a test.
constexpr Operator kPathOperators[] = {
    {"$all", ParseAll},         {"$bitsAllClear", ParseBits},
    {"$bitsAllSet", ParseBits}, {"$bitsAnyClear", ParseBits},
    {"$bitsAnySet", ParseBits}, {"$elemMatch", ParseElemMatch},
    {"$eq", ParseComparison},   {"$exists", ParseExists},
    {"$gt", ParseComparison},   {"$gte", ParseComparison},
    {"$in", ParseIn},           {"$lt", ParseComparison},
    {"$lte", ParseComparison},  {"$mod", ParseMod},
    {"$ne", ParseComparison},   {"$nin", ParseIn},
    {"$not", ParseNot},         {"$options", ParseRegexOptions},
    {"$regex", ParseRegex},     {"$size", ParseSize},
    {"$type", ParseType},
};

// In place of a path. Sorted, checked by a test.
constexpr Operator kTopOperators[] = {
    {"$alwaysFalse", ParseConstant}, {"$alwaysTrue", ParseConstant}, {"$and", ParseLogical},
    {"$comment", ParseComment},      {"$expr", ParseExpr},           {"$jsonSchema", ParseJsonSchema},
    {"$nor", ParseLogical},          {"$or", ParseLogical},          {"$sampleRate", ParseSampleRate},
};

// MongoDB has these and Braid does not: no JavaScript, no geography, no text search.
constexpr std::string_view kRefusedPathOperators[] = {
    "$geoIntersects", "$geoNear",    "$geoWithin",  "$maxDistance", "$minDistance",
    "$near",          "$nearSphere", "$uniqueDocs", "$within",
};
constexpr std::string_view kRefusedTopOperators[] = {"$text", "$where"};

Result<ParseOperator> Find(std::span<const Operator> table, std::span<const std::string_view> refused,
                           std::string_view name) {
  const auto* it = std::lower_bound(table.data(), table.data() + table.size(), name,
                                    [](const Operator& entry, std::string_view key) { return entry.name < key; });
  if (it != table.data() + table.size() && it->name == name) return it->parse;
  if (std::binary_search(refused.begin(), refused.end(), name))
    return BadValue(StrCat("the operator ", name, " is not supported"));
  return ParseOperator{nullptr};
}

}  // namespace

Result<ParseOperator> FindPathOperator(std::string_view name) {
  return Find(kPathOperators, kRefusedPathOperators, name);
}
Result<ParseOperator> FindTopOperator(std::string_view name) { return Find(kTopOperators, kRefusedTopOperators, name); }

bool IsPathOperator(std::string_view name) {
  const Result<ParseOperator> found = FindPathOperator(name);
  return !found.ok() || *found != nullptr;
}

OperatorNames FilterOperators() {
  OperatorNames names;
  for (const Operator& entry : kPathOperators) names.supported.push_back(entry.name);
  for (const Operator& entry : kTopOperators) names.supported.push_back(entry.name);
  names.refused.assign(std::begin(kRefusedPathOperators), std::end(kRefusedPathOperators));
  names.refused.insert(names.refused.end(), std::begin(kRefusedTopOperators), std::end(kRefusedTopOperators));
  std::sort(names.supported.begin(), names.supported.end());
  std::sort(names.refused.begin(), names.refused.end());
  return names;
}

}  // namespace braid::query
