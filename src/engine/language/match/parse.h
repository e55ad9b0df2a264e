// The inside of the filter parser, shared by the operator families (comparison.cc, logical.cc, …).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/language/expression/expression.h"
#include "engine/language/match/match_node.h"

namespace braid::query {

using NodePtr = std::unique_ptr<const MatchNode>;
using NodeList = std::vector<NodePtr>;

/// The parser's position in the specification.
struct ParseContext {
  const Environment& environment;
  int depth = 0;
  bool top_level = true;  // false inside $elemMatch, where conditions on the whole document make no sense

  const bson::Collation* collation() const { return environment.collation.get(); }
  ParseContext Inside() const { return {environment, depth + 1, top_level}; }
  ParseContext InsideElement() const { return {environment, depth + 1, false}; }
};

/// One operator as it stands in the filter: `path: {name: operand}`, or `name: operand` with an empty path.
struct OperatorCall {
  std::string_view path;
  std::string_view name;
  bson::Value operand;
  bson::View siblings;  // the document the operator stands in ($regex looks for $options)
  const ParseContext& context;
};

/// The node; null if the operator adds no condition of its own ($comment, $options).
using ParseOperator = Result<NodePtr> (*)(const OperatorCall& call);

/// A whole filter: every field a condition, all of them must hold.
Result<NodePtr> ParseDocument(bson::View specification, const ParseContext& context);
/// `path: value`: an operator document, a regex or an equality.
Result<NodePtr> ParsePredicate(std::string_view path, const bson::Value& value, const ParseContext& context);
/// `path: {$gt: 1, $lt: 5}`: one node for each operator.
Result<NodeList> ParseConditions(std::string_view path, bson::View operators, const ParseContext& context);

/// The tables of operators.cc; null if there is no such operator, an error if it is known but refused.
Result<ParseOperator> FindPathOperator(std::string_view name);
Result<ParseOperator> FindTopOperator(std::string_view name);
/// True for a name that may stand behind a path, supported or refused.
bool IsPathOperator(std::string_view name);
/// True if the value is a document of operators: its first field starts with '$' and it is not a DBRef.
bool IsOperatorDocument(const bson::Value& value);

Status BadValue(std::string_view message);

// logical.cc: constructors that simplify (an $and of one is that one, …).
NodePtr MakeConstant(bool value);
NodePtr MakeAnd(NodeList children);
NodePtr MakeOr(NodeList children);
NodePtr MakeNot(std::string_view path, NodePtr child);
// comparison.cc
Result<NodePtr> MakeEquality(std::string_view path, const bson::Value& operand, const ParseContext& context);
// regex.cc
Result<NodePtr> MakeRegex(std::string_view path, bson::Regex regex);

// The operators, by family.
Result<NodePtr> ParseComparison(const OperatorCall& call);  // $eq $gt $gte $lt $lte $ne
Result<NodePtr> ParseIn(const OperatorCall& call);          // $in $nin
Result<NodePtr> ParseLogical(const OperatorCall& call);     // $and $or $nor
Result<NodePtr> ParseNot(const OperatorCall& call);
Result<NodePtr> ParseConstant(const OperatorCall& call);  // $alwaysTrue $alwaysFalse
Result<NodePtr> ParseComment(const OperatorCall& call);
Result<NodePtr> ParseExists(const OperatorCall& call);
Result<NodePtr> ParseType(const OperatorCall& call);
Result<NodePtr> ParseMod(const OperatorCall& call);
Result<NodePtr> ParseRegex(const OperatorCall& call);
Result<NodePtr> ParseRegexOptions(const OperatorCall& call);
Result<NodePtr> ParseExpr(const OperatorCall& call);
Result<NodePtr> ParseSampleRate(const OperatorCall& call);
Result<NodePtr> ParseJsonSchema(const OperatorCall& call);
Result<NodePtr> ParseAll(const OperatorCall& call);
Result<NodePtr> ParseElemMatch(const OperatorCall& call);
Result<NodePtr> ParseSize(const OperatorCall& call);
Result<NodePtr> ParseBits(const OperatorCall& call);  // $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet

}  // namespace braid::query
