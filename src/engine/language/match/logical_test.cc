#include "engine/bson/builder.h"
#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kLogicalCases[] = {
    {"{}", "{'a': 1}", true},
    {"{'$and': [{'a': 1}, {'b': 2}]}", "{'a': 1, 'b': 2}", true},
    {"{'$and': [{'a': 1}, {'b': 2}]}", "{'a': 1, 'b': 3}", false},
    {"{'a': {'$gt': 5, '$lt': 3}}", "{'a': [1, 9]}", true},
    {"{'$or': [{'a': 1}, {'b': 2}]}", "{'b': 2}", true},
    {"{'$or': [{'a': 1}, {'b': 2}]}", "{}", false},
    {"{'$nor': [{'a': 1}, {'b': 2}]}", "{'a': 2}", true},
    {"{'$nor': [{'a': 1}, {'b': 2}]}", "{'a': 1}", false},
    {"{'$nor': [{}]}", "{}", false},
    {"{'a': {'$not': {'$gt': 5}}}", "{'a': 5}", true},
    {"{'a': {'$not': {'$gt': 5}}}", "{}", true},
    {"{'a': {'$not': {'$gt': 5}}}", "{'a': [1, 6]}", false},
    {"{'a': {'$not': {'$gt': 1, '$lt': 5}}}", "{'a': 3}", false},
    {"{'a': {'$not': {'$regularExpression': {'pattern': '^x', 'options': ''}}}}", "{'a': 'xy'}", false},
    {"{'a': {'$not': {'$regex': '^x'}}}", "{'a': 'y'}", true},
    {"{'a': {'$not': {'$not': {'$eq': 1}}}}", "{'a': 1}", true},
    {"{'$alwaysTrue': 1}", "{}", true},
    {"{'$alwaysFalse': 1}", "{}", false},
    {"{'$comment': 'why', 'a': 1}", "{'a': 1}", true},
};

constexpr ErrorCase kLogicalErrors[] = {
    {"{'$and': {'a': 1}}", 2},
    {"{'$or': []}", 2},
    {"{'$nor': [1]}", 2},
    {"{'a': {'$not': 5}}", 2},
    {"{'a': {'$not': {}}}", 2},
    {"{'a': {'$not': {'b': 1}}}", 2},
    {"{'$not': {'a': 1}}", 2},
    {"{'$gt': 5}", 2},
    {"{'a': {'$and': [{'a': 1}]}}", 2},
    {"{'$alwaysTrue': 2}", 9},
    {"{'$alwaysFalse': 'x'}", 9},
    {"{'$foo': 1}", 2},
};

}  // namespace

std::span<const MatchCase> LogicalCases() { return kLogicalCases; }

TEST(LogicalTest, Matches) { ExpectMatches(kLogicalCases); }
TEST(LogicalTest, Errors) { ExpectErrors(kLogicalErrors); }

TEST(LogicalTest, Simplifies) {
  EXPECT_TRUE(ParseSpec("{'$and': [{}, {'$or': [{}]}]}")->matches_everything());
  EXPECT_EQ(ParseSpec("{'$or': [{'a': 1}]}")->root().op(), MatchOp::kEq);
  EXPECT_EQ(ParseSpec("{'$and': [{'a': 1}, {'$and': [{'b': 1}, {'c': 1}]}]}")->root().children().size(), 3u);
  EXPECT_EQ(ParseSpec("{'a': {'$in': []}, 'b': 1}")->root().op(), MatchOp::kAlwaysFalse);
}

TEST(LogicalTest, DepthIsLimited) {
  const auto nested = [](int depth) {
    bson::Document filter = bson::J("{'a': 1}");
    for (int i = 0; i < depth; ++i) {
      bson::Builder around;
      around.OpenArray("$nor").AppendNext(filter).Close();
      filter = around.Finish();
    }
    return Filter::Parse(filter, nullptr).status().code();
  };
  EXPECT_EQ(nested(80), Code::kOk);
  EXPECT_EQ(nested(101), Code::kBadValue);
}

}  // namespace braid::query
