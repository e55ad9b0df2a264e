#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kComparisonCases[] = {
    {"{'a': 1}", "{'a': 1.0}", true},
    {"{'a': 1}", "{'a': {'$numberLong': '1'}}", true},
    {"{'a': 1}", "{'a': {'$numberDecimal': '1.00'}}", true},
    {"{'a': {'$numberLong': '9007199254740993'}}", "{'a': 9007199254740992.0}", false},
    {"{'a': 1}", "{'a': '1'}", false},
    {"{'a': {'$eq': 'x'}}", "{'a': 'x'}", true},
    {"{'a': {'$symbol': 'x'}}", "{'a': 'x'}", true},
    {"{'a': {'$ne': 1}}", "{'a': 2}", true},
    {"{'a': {'$ne': 1}}", "{'a': [2, 1]}", false},
    {"{'a': {'$ne': 1}}", "{}", true},
    {"{'a': {'b': 1, 'c': 2}}", "{'a': {'c': 2, 'b': 1}}", false},
    {"{'a': {'$ref': 'c', '$id': 1}}", "{'a': {'$ref': 'c', '$id': 1}}", true},
    // Ranges stay within a type.
    {"{'a': {'$gt': 1}}", "{'a': 2}", true},
    {"{'a': {'$gt': 1}}", "{'a': 1}", false},
    {"{'a': {'$gt': 1}}", "{'a': 'x'}", false},
    {"{'a': {'$gte': 1}}", "{'a': 1}", true},
    {"{'a': {'$lt': 'b'}}", "{'a': 'a'}", true},
    {"{'a': {'$lt': 'b'}}", "{'a': 0}", false},
    {"{'a': {'$lte': true}}", "{'a': true}", true},
    {"{'a': {'$lt': {'b': 2}}}", "{'a': {'b': 1}}", true},
    {"{'a': {'$gt': {'$minKey': 1}}}", "{'a': 'x'}", true},
    {"{'a': {'$gt': {'$minKey': 1}}}", "{}", true},
    {"{'a': {'$gte': {'$minKey': 1}}}", "{'a': {'$minKey': 1}}", true},
    {"{'a': {'$lt': {'$maxKey': 1}}}", "{'a': 5}", true},
    {"{'a': {'$lt': {'$maxKey': 1}}}", "{'a': {'$maxKey': 1}}", false},
    {"{'a': {'$maxKey': 1}}", "{'a': 5}", false},
    // NaN equals itself and is in no range.
    {"{'a': {'$numberDouble': 'NaN'}}", "{'a': {'$numberDecimal': 'NaN'}}", true},
    {"{'a': {'$lt': 5}}", "{'a': {'$numberDouble': 'NaN'}}", false},
    {"{'a': {'$lte': {'$numberDouble': 'NaN'}}}", "{'a': {'$numberDouble': 'NaN'}}", true},
    {"{'a': {'$gte': {'$numberDouble': 'NaN'}}}", "{'a': 5}", false},
    // null is what is not there.
    {"{'a': null}", "{}", true},
    {"{'a': null}", "{'a': null}", true},
    {"{'a': null}", "{'a': {'$undefined': true}}", true},
    {"{'a': null}", "{'a': []}", false},
    {"{'a': null}", "{'a': [1, null]}", true},
    {"{'a': {'$gte': null}}", "{}", true},
    {"{'a': {'$gt': null}}", "{}", false},
    {"{'a.b': null}", "{'a': 4}", true},
    {"{'a.b': null}", "{'a': [{'b': 3}, {}]}", true},
    {"{'a.b': null}", "{'a': []}", false},
    {"{'a.b': null}", "{'a': [1]}", false},
    // Arrays: the whole or one element, one level deep.
    {"{'a': 5}", "{'a': [1, 5]}", true},
    {"{'a': 5}", "{'a': [[5]]}", false},
    {"{'a': [1, 2]}", "{'a': [1, 2]}", true},
    {"{'a': [1, 2]}", "{'a': [[1, 2]]}", true},
    {"{'a': [1, 2]}", "{'a': [2, 1]}", false},
    {"{'a': {'$gt': [1]}}", "{'a': [1, 2]}", true},
    {"{'a.b': 1}", "{'a': [{'b': 2}, {'b': [3, 1]}]}", true},
    {"{'a.b': 1}", "{'a': [[{'b': 1}]]}", false},
    // A number is a position and a name.
    {"{'a.1': 7}", "{'a': [5, 7]}", true},
    {"{'a.1': 7}", "{'a': {'1': 7}}", true},
    {"{'a.1': 7}", "{'a': [{'1': 7}]}", true},
    {"{'a.01': 7}", "{'a': [5, 7]}", false},
    {"{'a.0': 1}", "{'a': [[1, 2]]}", false},
    {"{'a.0.0': 1}", "{'a': [[1, 2]]}", true},
    {"{'a.0.b': 1}", "{'a': [{'b': 1}]}", true},
    // Membership.
    {"{'a': {'$in': [1, 'x', null]}}", "{'a': 'x'}", true},
    {"{'a': {'$in': [1, 'x', null]}}", "{'b': 1}", true},
    {"{'a': {'$in': [1, 2]}}", "{'a': [3, {'$numberLong': '2'}]}", true},
    {"{'a': {'$in': [[1, 2], 5]}}", "{'a': [1, 2]}", true},
    {"{'a': {'$in': []}}", "{'a': 1}", false},
    {"{'a': {'$in': [{'$regularExpression': {'pattern': '^x', 'options': ''}}, 5]}}", "{'a': 'xy'}", true},
    {"{'a': {'$in': [{'$regularExpression': {'pattern': '^x', 'options': ''}}, 5]}}", "{'a': 'yx'}", false},
    {"{'a': {'$nin': [1, 2]}}", "{'a': 3}", true},
    {"{'a': {'$nin': [1, 2]}}", "{'a': [3, 1]}", false},
    {"{'a': {'$nin': [null]}}", "{}", false},
    {"{'a': {'$nin': []}}", "{}", true},
};

constexpr ErrorCase kComparisonErrors[] = {
    {"{'a': {'$gt': {'$regularExpression': {'pattern': 'x', 'options': ''}}}}", 2},
    {"{'a': {'$ne': {'$regularExpression': {'pattern': 'x', 'options': ''}}}}", 2},
    {"{'a': {'$undefined': true}}", 2},
    {"{'a': {'$in': 5}}", 2},
    {"{'a': {'$nin': {'b': 1}}}", 2},
    {"{'a': {'$in': [{'$gt': 5}]}}", 2},
    {"{'a': {'$in': [{'$undefined': true}]}}", 2},
    {"{'a': {'$gt': 5, 'b': 1}}", 2},
    {"{'a': {'$foo': 5}}", 2},
};

}  // namespace

std::span<const MatchCase> ComparisonCases() { return kComparisonCases; }

TEST(ComparisonTest, Matches) { ExpectMatches(kComparisonCases); }
TEST(ComparisonTest, Errors) { ExpectErrors(kComparisonErrors); }

TEST(ComparisonTest, Collation) {
  auto environment = std::make_shared<Environment>();
  auto collation = bson::Collation::Parse(bson::J("{'locale': 'en', 'strength': 2}"));
  ASSERT_OK(collation);
  environment->collation = *collation;
  for (const char* spec :
       {"{'a': 'ABC'}", "{'a': {'$in': ['x', 'ABC']}}", "{'a': {'$lte': 'ABC'}}", "{'a': {'b': 'ABC'}}"}) {
    auto filter = Filter::Parse(bson::J(spec), environment);
    ASSERT_OK(filter);
    EXPECT_TRUE(*filter->Matches(bson::J("{'a': ['abc', {'b': 'abc'}]}"))) << spec;
    EXPECT_FALSE(*filter->Matches(bson::J("{'a': 'abd'}"))) << spec;
  }
}

TEST(ComparisonTest, InKeepsItsMembersSortedForThePlanner) {
  auto filter = ParseSpec("{'a': {'$in': [3, 'x', 1, {'$regularExpression': {'pattern': '^q', 'options': ''}}, 1.0]}}");
  ASSERT_OK(filter);
  EXPECT_EQ(filter->root().op(), MatchOp::kIn);
  EXPECT_EQ(bson::ToJson(filter->root().operand()), bson::ToJson(bson::J("{'v': [1, 3, 'x']}").Find("v")));
  ASSERT_EQ(filter->root().children().size(), 1u);
  EXPECT_EQ(filter->root().children()[0]->regex_prefix(), "q");
  EXPECT_EQ(ParseSpec("{'a': {'$in': [5]}}")->root().op(), MatchOp::kEq);
}

}  // namespace braid::query
