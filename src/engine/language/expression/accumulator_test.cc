// Accumulators: what each makes of a list of values, and the codes of their specifications.
#include "engine/language/expression/accumulator.h"

#include <algorithm>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::query {
namespace {

struct Case {
  const char* spec;
  const char* rows;  // an array of documents
  const char* expected;
};

std::string Outcome(const Case& test) {
  const Environment environment;
  const bson::Document written = bson::J(StrCat("{'s': ", test.spec, ", 'rows': ", test.rows, "}"));
  auto spec = ParseAccumulator("f", written.Find("s"), environment);
  if (!spec.ok()) return StrCat("error ", static_cast<int>(spec.error().code()));
  std::unique_ptr<Accumulator> state = (*spec)->Start();
  for (const bson::Element& row : written.Find("rows").AsView()) {
    bson::Arena arena;  // gone after Add, as documents are
    Result<bson::Value> argument = (*spec)->Argument(row.value.AsView(), arena);
    Status status = argument.ok() ? state->Add(*argument) : argument.error();
    if (!status.ok()) return StrCat("error ", static_cast<int>(status.code()));
  }
  bson::Arena arena;
  EXPECT_GT(state->memory(), 0u);
  return bson::ToJson(state->Finish(arena), bson::JsonForm::kCanonical);
}

constexpr const char* kRows =
    "[{'v': 2, 'k': 'b'}, {'v': 'x'}, {'v': null}, {}, {'v': 5.0, 'k': 'a'}, {'v': 2, 'k': 'c'}]";

constexpr Case kCases[] = {
    {"{'$sum': '$v'}", kRows, "9.0"},
    {"{'$sum': 1}", kRows, "6"},
    {"{'$sum': '$v'}", "[{'v': 2147483647}, {'v': 1}]", "{'$numberLong': '2147483648'}"},
    {"{'$sum': '$v'}", "[{'v': {'$numberLong': '9223372036854775807'}}, {'v': {'$numberLong': '-1'}}]",
     "{'$numberLong': '9223372036854775806'}"},
    {"{'$sum': '$v'}", "[{'v': {'$numberLong': '9223372036854775807'}}, {'v': 1}]", "9223372036854775808.0"},
    {"{'$sum': '$v'}", "[{'v': 1e16}, {'v': 1.0}, {'v': -1e16}]", "1.0"},
    {"{'$sum': '$v'}", "[]", "0"},
    {"{'$count': {}}", kRows, "6"},
    {"{'$count': 1}", kRows, "error 14"},
    {"{'$avg': '$v'}", kRows, "3.0"},
    {"{'$avg': '$v'}", "[]", "null"},
    {"{'$min': '$v'}", kRows, "2"},
    {"{'$max': '$v'}", kRows, "'x'"},
    {"{'$min': '$w'}", kRows, "null"},
    {"{'$first': '$k'}", kRows, "'b'"},
    {"{'$last': '$v'}", kRows, "2"},
    {"{'$first': '$k'}", "[{}, {'k': 1}]", "null"},
    {"{'$push': '$v'}", kRows, "[2, 'x', null, 5.0, 2]"},
    {"{'$addToSet': '$v'}", kRows, "[2, 'x', null, 5.0]"},
    {"{'$addToSet': '$v'}", "[{'v': 1}, {'v': 1.0}, {'v': [1]}, {'v': [1.0]}]", "[1, [1]]"},
    {"{'$stdDevPop': '$v'}", "[{'v': 2}, {'v': 4}, {'v': 'x'}]", "1.0"},
    {"{'$stdDevSamp': '$v'}", "[{'v': 2}]", "null"},
    {"{'$mergeObjects': '$v'}", "[{'v': {'a': 1, 'b': 1}}, {'v': null}, {'v': {'b': 2}}]", "{'a': 1, 'b': 2}"},
    {"{'$mergeObjects': '$v'}", kRows, "error 40400"},
    {"{'$firstN': {'n': 2, 'input': '$v'}}", kRows, "[2, 'x']"},
    {"{'$lastN': {'n': 2, 'input': '$v'}}", kRows, "[5.0, 2]"},
    {"{'$minN': {'n': 2, 'input': '$v'}}", kRows, "[2, 2]"},
    {"{'$maxN': {'n': 2, 'input': '$v'}}", kRows, "['x', 5.0]"},
    {"{'$maxN': {'n': 0, 'input': '$v'}}", kRows, "error 5787908"},
    {"{'$maxN': {'n': '$v', 'input': '$v'}}", kRows, "error 115"},
    {"{'$maxN': {'n': 1}}", kRows, "error 5787907"},
    {"{'$top': {'sortBy': {'k': 1}, 'output': '$v'}}", "[{'k': 2, 'v': 'b'}, {'k': 1, 'v': 'a'}, {'k': 3, 'v': 'c'}]",
     "'a'"},
    {"{'$bottom': {'sortBy': {'k': 1}, 'output': ['$v', '$k']}}", "[{'k': 2, 'v': 'b'}, {'k': 3, 'v': 'c'}, {'k': 1}]",
     "['c', 3]"},
    {"{'$topN': {'n': 2, 'sortBy': {'k': -1, 'v': 1}, 'output': '$v'}}",
     "[{'k': 2, 'v': 9}, {'k': 3, 'v': 2}, {'k': 3, 'v': 1}]", "[1, 2]"},
    {"{'$bottomN': {'n': 2, 'sortBy': {'k': 1}, 'output': '$k'}}", "[{'k': 2}, {'k': 3}, {'k': 1}]", "[2, 3]"},
    {"{'$topN': {'n': 2, 'sortBy': {'k': 1}}}", kRows, "error 5788004"},
    {"{'$top': {'output': 1}}", kRows, "error 5788005"},
    {"{'$median': {'input': '$v', 'method': 'approximate'}}", kRows, "2.0"},
    {"{'$percentile': {'input': '$v', 'p': [1], 'method': 'approximate'}}", kRows, "[5.0]"},
    {"{'$nope': 1}", kRows, "error 15952"},
    {"{'$accumulator': {}}", kRows, "error 115"},
    {"{'$sum': ['$v']}", kRows, "error 40237"},
    {"{'$sum': 1, '$avg': 1}", kRows, "error 40238"},
    {"{'sum': 1}", kRows, "error 40234"},
    {"1", kRows, "error 40234"},
};

TEST(AccumulatorTest, Table) {
  for (const Case& test : kCases) {
    std::string expected = test.expected;
    if (!expected.starts_with("error")) {
      expected = bson::ToJson(bson::J(StrCat("{'v': ", expected, "}")).Find("v"), bson::JsonForm::kCanonical);
    }
    EXPECT_EQ(Outcome(test), expected) << test.spec << " over " << test.rows;
  }
}

TEST(AccumulatorTest, EveryAccumulatorHasACase) {
  for (std::string_view name : AccumulatorOperators().supported) {
    const bool used = std::ranges::any_of(kCases, [name](const Case& test) {
      return std::string_view(test.spec).find(StrCat("'", name, "'")) != std::string_view::npos;
    });
    EXPECT_TRUE(used) << name;
  }
}

TEST(AccumulatorTest, FieldNamesAreChecked) {
  const Environment environment;
  const bson::Document written = bson::J("{'s': {'$sum': 1}}");
  EXPECT_EQ(ParseAccumulator("a.b", written.Find("s"), environment).status().code(), Location(40235));
  EXPECT_EQ(ParseAccumulator("$a", written.Find("s"), environment).status().code(), Location(40236));
}

}  // namespace
}  // namespace braid::query
