// The tables of operators: sorted, and none without a case.
#include <algorithm>

#include "base/strings.h"
#include "engine/language/match/match_testing.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

bool HasCase(std::string_view name) {
  const std::string quoted = StrCat("'", name, "'");
  for (auto cases : {ArrayCases(), BitsCases(), ComparisonCases(), ElementCases(), EvaluationCases(), JsonSchemaCases(),
                     LogicalCases(), RegexCases()}) {
    for (const MatchCase& c : cases) {
      if (c.filter.find(quoted) != std::string_view::npos) return true;
    }
  }
  return false;
}

}  // namespace

TEST(OperatorsTest, EveryOperatorHasACase) {
  const OperatorNames names = FilterOperators();
  EXPECT_GT(names.supported.size(), 25u);
  for (std::string_view name : names.supported) EXPECT_TRUE(HasCase(name)) << name;
}

// The lookup is a binary search: an entry out of order would not be found.
TEST(OperatorsTest, EveryOperatorIsFound) {
  const OperatorNames names = FilterOperators();
  for (std::string_view name : names.supported) {
    const Result<ParseOperator> path = FindPathOperator(name);
    const Result<ParseOperator> top = FindTopOperator(name);
    ASSERT_OK(path);
    ASSERT_OK(top);
    EXPECT_TRUE((*path != nullptr) != (*top != nullptr)) << name;
  }
  EXPECT_TRUE(std::is_sorted(names.supported.begin(), names.supported.end()));
  EXPECT_TRUE(std::is_sorted(names.refused.begin(), names.refused.end()));
}

TEST(OperatorsTest, RefusedByName) {
  for (std::string_view name : FilterOperators().refused) {
    const bool at_top = name == "$text" || name == "$where";
    const auto filter = ParseSpec(at_top ? StrCat("{'", name, "': 'x'}") : StrCat("{'a': {'", name, "': [1, 2]}}"));
    ASSERT_FALSE(filter.ok()) << name;
    EXPECT_EQ(filter.error().code(), Code::kBadValue);
    EXPECT_NE(filter.error().message().find(StrCat(name, " is not supported")), std::string_view::npos)
        << filter.error().message();
  }
}

}  // namespace braid::query
