// The runner of the tables of cases, and the properties of the table of operators.
#include <algorithm>
#include <string>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/arena.h"
#include "engine/bson/json.h"
#include "engine/language/expression/accumulator.h"
#include "engine/language/expression/cases.h"
#include "engine/language/expression/expression.h"

namespace braid::query::test {
namespace {

using bson::Value;

Environment TestEnvironment() {
  Environment environment;
  environment.now_millis = 86400000;
  environment.cluster_time = uint64_t{7} << 32 | 2;
  environment.variables.emplace_back("given", bson::OwnedValue(bson::J("{'v': [{'x': 1}, {'x': 2}]}").Find("v")));
  return environment;
}

std::string Outcome(const Case& test) {
  const Environment environment = TestEnvironment();
  const bson::Document written = bson::J(StrCat("{'e': ", test.expression, "}"));
  Result<ExpressionPtr> parsed = ParseExpression(written.Find("e"), environment);
  if (!parsed.ok()) return StrCat("error ", static_cast<int>(parsed.error().code()));
  bson::Arena arena;
  const bson::Document document = bson::J(test.document);
  Result<Value> value = Evaluate(**parsed, document, environment, arena);
  if (!value.ok()) return StrCat("error ", static_cast<int>(value.error().code()));
  return value->missing() ? "missing" : bson::ToJson(*value, bson::JsonForm::kCanonical);
}

std::string Expected(const Case& test) {
  const std::string expected = test.expected;
  if (expected.starts_with("error") || expected == "missing") return expected;
  return bson::ToJson(bson::J(StrCat("{'v': ", expected, "}")).Find("v"), bson::JsonForm::kCanonical);
}

std::vector<Cases> AllCases() {
  return {ArithmeticCases(), ArrayCases(),     ConditionCases(),   ConvertCases(), DateCases(),
          DateMathCases(),   IterationCases(), ObjectCases(),      RegexCases(),   SetCases(),
          StatisticsCases(), StringCases(),    TrigonometryCases()};
}

}  // namespace

void Check(Cases cases) {
  for (const Case& test : cases)
    EXPECT_EQ(Outcome(test), Expected(test)) << test.expression << " over " << test.document;
}

TEST(OperatorsTest, TablesAreSorted) {
  for (const OperatorNames& names : {ExpressionOperators(), AccumulatorOperators()}) {
    EXPECT_TRUE(std::ranges::is_sorted(names.supported));
    EXPECT_TRUE(std::ranges::is_sorted(names.refused));
    EXPECT_EQ(std::ranges::adjacent_find(names.supported), names.supported.end());
    for (std::string_view name : names.refused) EXPECT_FALSE(std::ranges::binary_search(names.supported, name)) << name;
  }
}

TEST(OperatorsTest, EveryOperatorHasACaseThatSucceeds) {
  for (std::string_view name : ExpressionOperators().supported) {
    const std::string quoted = StrCat("'", name, "'");
    bool used = false;
    for (Cases cases : AllCases()) {
      for (const Case& test : cases) {
        const bool names_it = std::string_view(test.expression).find(quoted) != std::string_view::npos;
        used = used || (names_it && !std::string_view(test.expected).starts_with("error"));
      }
    }
    EXPECT_TRUE(used) << name;
  }
}

TEST(OperatorsTest, RefusedOperatorsAreNamed) {
  const Environment environment;
  for (std::string_view name : ExpressionOperators().refused) {
    const bson::Document written = bson::J(StrCat("{'e': {'", name, "': {}}}"));
    Result<ExpressionPtr> parsed = ParseExpression(written.Find("e"), environment);
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().code(), Code::kCommandNotSupported);
    EXPECT_NE(parsed.error().message().find(name), std::string_view::npos);
  }
}

TEST(ParseTest, ConstantsAreFolded) {
  const Environment environment;
  const bson::Document written = bson::J("{'e': {'x': [{'$add': [1, {'$size': {'$literal': [1, 2]}}]}]}}");
  Result<ExpressionPtr> parsed = ParseExpression(written.Find("e"), environment);
  ASSERT_OK(parsed);
  ASSERT_NE((*parsed)->constant(), nullptr);
  EXPECT_EQ(bson::ToJson(*(*parsed)->constant()), bson::ToJson(bson::Value(bson::J("{'x': [3]}"))));
}

TEST(ParseTest, CollectPathsSeesThroughOperatorsAndVariables) {
  const Environment environment;
  const bson::Document written = bson::J(
      "{'e': {'$let': {'vars': {'v': '$a.b'}, 'in': {'$map': {'input': '$c', 'in': ['$$this.x', '$$v.y', "
      "'$$ROOT']}}}}}");
  Result<ExpressionPtr> parsed = ParseExpression(written.Find("e"), environment);
  ASSERT_OK(parsed);
  std::set<std::string> paths;
  (*parsed)->CollectPaths(&paths);
  EXPECT_EQ(paths, (std::set<std::string>{"", "a.b", "c"}));
}

TEST(ParseTest, DepthIsLimited) {
  auto nested = [](int levels) {
    bson::Document document = bson::Make("$abs", 1);
    for (int i = 1; i < levels; ++i) document = bson::Make("$abs", document);
    return document;
  };
  const Environment environment;
  EXPECT_OK(ParseExpression(Value(nested(199).view()), environment));
  EXPECT_EQ(ParseExpression(Value(nested(201).view()), environment).status().code(), Code::kOverflow);
}

}  // namespace braid::query::test
