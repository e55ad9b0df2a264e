// $mod, $expr, $sampleRate; $bitsAllSet and its kind; $exists and $type.
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

constexpr MatchCase kBitsCases[] = {
    {"{'a': {'$bitsAllSet': 5}}", "{'a': 7}", true},
    {"{'a': {'$bitsAllSet': 5}}", "{'a': 4}", false},
    {"{'a': {'$bitsAllSet': [0, 2]}}", "{'a': 5.0}", true},
    {"{'a': {'$bitsAllSet': [0, 2]}}", "{'a': 5.5}", false},
    {"{'a': {'$bitsAllSet': [70]}}", "{'a': -1}", true},
    {"{'a': {'$bitsAllClear': [70]}}", "{'a': 1}", true},
    {"{'a': {'$bitsAllClear': 5}}", "{'a': 2}", true},
    {"{'a': {'$bitsAllClear': 5}}", "{'a': 3}", false},
    {"{'a': {'$bitsAllClear': []}}", "{'a': 3}", true},
    {"{'a': {'$bitsAnySet': 5}}", "{'a': 4}", true},
    {"{'a': {'$bitsAnySet': 5}}", "{'a': 2}", false},
    {"{'a': {'$bitsAnyClear': 5}}", "{'a': 4}", true},
    {"{'a': {'$bitsAnyClear': 5}}", "{'a': 7}", false},
    {"{'a': {'$bitsAnyClear': []}}", "{'a': 7}", false},
    {"{'a': {'$bitsAllSet': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}}",
     "{'a': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}", true},
    {"{'a': {'$bitsAllSet': [0, 9]}}", "{'a': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}", true},
    {"{'a': {'$bitsAllSet': [16]}}", "{'a': {'$binary': {'base64': 'AQI=', 'subType': '00'}}}", false},
    {"{'a': {'$bitsAllSet': 1}}", "{'a': 'x'}", false},
    {"{'a': {'$bitsAllSet': 1}}", "{'a': [2, 1]}", true},
    {"{'a': {'$bitsAllSet': 2}}", "{'a': {'$numberDecimal': '1.5'}}", true},
    {"{'a': {'$bitsAllClear': 1}}", "{'a': {'$numberDouble': 'NaN'}}", false},
};

constexpr ErrorCase kBitsErrors[] = {
    {"{'a': {'$bitsAllSet': -1}}", 9},
    {"{'a': {'$bitsAllClear': 1.5}}", 9},
    {"{'a': {'$bitsAnySet': 'x'}}", 2},
    {"{'a': {'$bitsAnySet': [-1]}}", 2},
    {"{'a': {'$bitsAnyClear': ['x']}}", 2},
    {"{'a': {'$bitsAnyClear': [0.5]}}", 2},
    {"{'a': {'$bitsAllSet': [{'$numberLong': '2147483648'}]}}", 2},
};

constexpr MatchCase kElementCases[] = {
    {"{'a': {'$exists': true}}", "{'a': null}", true},
    {"{'a': {'$exists': true}}", "{}", false},
    {"{'a': {'$exists': 1}}", "{'a': []}", true},
    {"{'a': {'$exists': false}}", "{}", true},
    {"{'a': {'$exists': 0}}", "{'a': 1}", false},
    {"{'a.b': {'$exists': true}}", "{'a': [1, {'b': 2}]}", true},
    {"{'a.b': {'$exists': false}}", "{'a': []}", true},
    {"{'a': {'$type': 'int'}}", "{'a': 1}", true},
    {"{'a': {'$type': 'int'}}", "{'a': 1.5}", false},
    {"{'a': {'$type': 16}}", "{'a': ['x', 1]}", true},
    {"{'a': {'$type': 'number'}}", "{'a': {'$numberDecimal': '1'}}", true},
    {"{'a': {'$type': 'array'}}", "{'a': []}", true},
    {"{'a': {'$type': 4}}", "{'a': [1]}", true},
    {"{'a': {'$type': 'object'}}", "{'a': [{}]}", true},
    {"{'a': {'$type': ['string', 8]}}", "{'a': true}", true},
    {"{'a': {'$type': ['string', 8]}}", "{'a': 1}", false},
    {"{'a': {'$type': -1}}", "{'a': {'$minKey': 1}}", true},
    {"{'a': {'$type': 255}}", "{'a': {'$minKey': 1}}", true},
    {"{'a': {'$type': 127}}", "{'a': {'$maxKey': 1}}", true},
    {"{'a': {'$type': 'minKey'}}", "{'a': {'$maxKey': 1}}", false},
    {"{'a': {'$type': 10}}", "{}", false},
    {"{'a': {'$type': 'null'}}", "{'a': null}", true},
};

constexpr ErrorCase kElementErrors[] = {
    {"{'a': {'$type': 'integer'}}", 2}, {"{'a': {'$type': 0}}", 2},  {"{'a': {'$type': 20}}", 2},
    {"{'a': {'$type': 1.5}}", 2},       {"{'a': {'$type': []}}", 9}, {"{'a': {'$type': {}}}", 14},
    {"{'a': {'$type': [true]}}", 14},
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

std::span<const MatchCase> BitsCases() { return kBitsCases; }

TEST(BitsTest, Matches) { ExpectMatches(kBitsCases); }
TEST(BitsTest, Errors) { ExpectErrors(kBitsErrors); }

std::span<const MatchCase> ElementCases() { return kElementCases; }

TEST(ElementTest, Matches) { ExpectMatches(kElementCases); }
TEST(ElementTest, Errors) { ExpectErrors(kElementErrors); }

}  // namespace braid::query
