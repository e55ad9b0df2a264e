// $mod, $expr, $sampleRate.
#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kEvaluationCases[] = {
    {"{'a': {'$mod': [4, 0]}}", "{'a': 8}", true},
    {"{'a': {'$mod': [4, 0]}}", "{'a': 9}", false},
    {"{'a': {'$mod': [4, 1]}}", "{'a': 9.9}", true},
    {"{'a': {'$mod': [4.7, 1.2]}}", "{'a': {'$numberDecimal': '5'}}", true},
    {"{'a': {'$mod': [4, -1]}}", "{'a': -5}", true},
    {"{'a': {'$mod': [-1, 0]}}", "{'a': {'$numberLong': '-9223372036854775808'}}", true},
    {"{'a': {'$mod': [4, 0]}}", "{'a': {'$numberDouble': 'NaN'}}", false},
    {"{'a': {'$mod': [4, 0]}}", "{'a': 1e300}", false},
    {"{'a': {'$mod': [4, 0]}}", "{'a': '8'}", false},
    {"{'a': {'$mod': [4, 0]}}", "{'a': [1, 4]}", true},
    {"{'$expr': {'$gt': ['$a', '$b']}}", "{'a': 2, 'b': 1}", true},
    {"{'$expr': {'$gt': ['$a', '$b']}}", "{'a': 1, 'b': 2}", false},
    {"{'$expr': '$a'}", "{'a': 0}", false},
    {"{'$expr': '$a', 'b': 1}", "{'a': 'x', 'b': 1}", true},
    {"{'$sampleRate': 1}", "{}", true},
    {"{'$sampleRate': 0.0}", "{}", false},
};

constexpr ErrorCase kEvaluationErrors[] = {
    {"{'a': {'$mod': 5}}", 2},
    {"{'a': {'$mod': [5]}}", 2},
    {"{'a': {'$mod': [5, 1, 2]}}", 2},
    {"{'a': {'$mod': ['x', 1]}}", 2},
    {"{'a': {'$mod': [2, 'x']}}", 2},
    {"{'a': {'$mod': [0.5, 1]}}", 2},
    {"{'a': {'$mod': [{'$numberDouble': 'Infinity'}, 1]}}", 2},
    {"{'$expr': {'$noSuchOperator': 1}}", 168},
    {"{'a': {'$elemMatch': {'$expr': true}}}", 2},
    {"{'$sampleRate': 'x'}", 2},
    {"{'$sampleRate': 1.5}", 2},
    {"{'$sampleRate': {'$numberDouble': 'NaN'}}", 2},
};

}  // namespace

std::span<const MatchCase> EvaluationCases() { return kEvaluationCases; }

TEST(EvaluationTest, Matches) { ExpectMatches(kEvaluationCases); }
TEST(EvaluationTest, Errors) { ExpectErrors(kEvaluationErrors); }

TEST(EvaluationTest, SampleRateTakesAboutItsShare) {
  auto filter = ParseSpec("{'$sampleRate': 0.5}");
  ASSERT_OK(filter);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += *filter->Matches(bson::View()) ? 1 : 0;
  EXPECT_GT(taken, 300);
  EXPECT_LT(taken, 700);
}

TEST(EvaluationTest, ExprErrorsAtRunTimeAreReported) {
  auto filter = ParseSpec("{'$expr': {'$add': ['$a', 1]}}");
  ASSERT_OK(filter);
  EXPECT_FALSE(filter->Matches(bson::J("{'a': 'x'}")).ok());
}

}  // namespace braid::query
