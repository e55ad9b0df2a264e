// Bounds of single conditions, as explain shows them; conditions taken apart; partial filters implied.
#include "engine/exec/plan/bounds.h"

#include <algorithm>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/hash.h"
#include "engine/bson/json.h"
#include "engine/exec/plan/conditions.h"
#include "engine/language/match/filter.h"

namespace braid::query::plan {
namespace {

Filter Parse(std::string_view json) {
  auto filter = Filter::Parse(bson::J(json), std::make_shared<Environment>());
  EXPECT_OK(filter);
  return *filter;
}

std::string Show(const std::optional<FieldBounds>& bounds) {
  if (!bounds) return "none";
  std::string text = bounds->exact ? "exact" : "inexact";
  for (const Interval& interval : bounds->intervals) text += " " + interval.ToString(false);
  return text;
}

std::string ShowBounds(std::string_view json, FieldTraits field = {}) {
  const Filter filter = Parse(json);
  return Show(BoundsOf(filter.root(), field));
}

TEST(BoundsTest, Equality) {
  EXPECT_EQ(ShowBounds("{'a': 1}"), "exact [1, 1]");
  EXPECT_EQ(ShowBounds("{'a': 'x'}"), "exact [\"x\", \"x\"]");
  EXPECT_EQ(ShowBounds("{'a': null}"), "inexact [undefined, null]");
  EXPECT_EQ(ShowBounds("{'a': [1, 2]}"), "inexact [1, 1] [[ 1, 2 ], [ 1, 2 ]]");
  EXPECT_EQ(ShowBounds("{'a': []}"), "inexact [undefined, undefined] [[], []]");
  EXPECT_EQ(ShowBounds("{'a': {'$numberDouble': 'NaN'}}"), "exact [NaN, NaN]");
}

TEST(BoundsTest, ComparisonStaysInItsType) {
  EXPECT_EQ(ShowBounds("{'a': {'$gt': 5}}"), "exact (5, inf.0]");
  EXPECT_EQ(ShowBounds("{'a': {'$lte': 5}}"), "exact [-inf.0, 5]");
  EXPECT_EQ(ShowBounds("{'a': {'$lt': 'm'}}"), "exact [\"\", \"m\")");
  EXPECT_EQ(ShowBounds("{'a': {'$gte': 'm'}}"), "exact [\"m\", {})");
  EXPECT_EQ(ShowBounds("{'a': {'$gte': true}}"), "exact [true, true]");
  EXPECT_EQ(ShowBounds("{'a': {'$gt': true}}"), "exact");
  EXPECT_EQ(ShowBounds("{'a': {'$gte': null}}"), "inexact [undefined, null]");
  EXPECT_EQ(ShowBounds("{'a': {'$gt': null}}"), "inexact");
  EXPECT_EQ(ShowBounds("{'a': {'$lt': {'$numberDouble': 'NaN'}}}"), "exact");
  EXPECT_EQ(ShowBounds("{'a': {'$lt': [1]}}"), "none");
  EXPECT_EQ(ShowBounds("{'a': {'$gt': {'$minKey': 1}}}"), "none");
}

TEST(BoundsTest, InIsAUnionOfPoints) {
  EXPECT_EQ(ShowBounds("{'a': {'$in': [3, 1, 2.0, 1]}}"), "exact [1, 1] [2.0, 2.0] [3, 3]");
  EXPECT_EQ(ShowBounds("{'a': {'$in': [1, null]}}"), "inexact [undefined, null] [1, 1]");
  EXPECT_EQ(ShowBounds("{'a': {'$in': [1, {'$regularExpression': {'pattern': '^ab', 'options': ''}}]}}"),
            "exact [1, 1] [\"ab\", \"ac\") [/^ab/, /^ab/]");
}

TEST(BoundsTest, RegexByPrefix) {
  const auto regex = [](std::string_view pattern, std::string_view options) {
    return ShowBounds(
        StrCat("{'a': {'$regularExpression': {'pattern': '", pattern, "', 'options': '", options, "'}}}"));
  };
  EXPECT_EQ(regex("^ab", ""), "exact [\"ab\", \"ac\") [/^ab/, /^ab/]");
  EXPECT_TRUE(regex("^ab.*c", "").starts_with("inexact [\"ab\", \"ac\") [//, ")) << regex("^ab.*c", "");
  EXPECT_TRUE(regex("ab", "").starts_with("inexact [\"\", {}) [//, ")) << regex("ab", "");
  EXPECT_TRUE(regex("^ab", "i").starts_with("inexact [\"\", {}) [//, ")) << regex("^ab", "i");
}

TEST(BoundsTest, NotIsTheComplement) {
  const FieldTraits multikey{.multikey = true};
  EXPECT_EQ(ShowBounds("{'a': {'$ne': 1}}"), "exact [MinKey, 1) (1, MaxKey]");
  EXPECT_EQ(ShowBounds("{'a': {'$ne': 1}}", multikey), "inexact [MinKey, 1) (1, MaxKey]");
  EXPECT_EQ(ShowBounds("{'a': {'$not': {'$gt': 1}}}"), "exact [MinKey, 1] (inf.0, MaxKey]");
  EXPECT_EQ(ShowBounds("{'a': {'$ne': null}}"), "inexact [MinKey, undefined) (null, MaxKey]");
  EXPECT_EQ(ShowBounds("{'a': {'$ne': null}}", multikey), "none");  // an empty array is indexed as undefined
  EXPECT_EQ(ShowBounds("{'a': {'$nin': [1, 2]}}"), "exact [MinKey, 1) (1, 2) (2, MaxKey]");
  EXPECT_EQ(ShowBounds("{'a': {'$ne': [1]}}"), "none");
  EXPECT_EQ(ShowBounds("{'a': {'$exists': false}}"), "inexact [undefined, null]");
  EXPECT_EQ(ShowBounds("{'a': {'$exists': true}}"), "inexact [MinKey, MaxKey]");
}

TEST(BoundsTest, ElemMatchIntersectsOnOneElement) {
  EXPECT_EQ(ShowBounds("{'a': {'$elemMatch': {'$gt': 1, '$lt': 5}}}"), "inexact (1, 5)");
}

TEST(BoundsTest, HashedOnlyByValue) {
  const FieldTraits hashed{.hashed = true};
  const bson::Document five = bson::J("{'v': 5}");
  EXPECT_EQ(ShowBounds("{'a': 5}", hashed),
            StrCat("inexact [", bson::MongoHash(five.Find("v")), ", ", bson::MongoHash(five.Find("v")), "]"));
  EXPECT_EQ(ShowBounds("{'a': {'$gt': 5}}", hashed), "none");
  EXPECT_EQ(ShowBounds("{'a': {'$exists': true}}", hashed), "none");
}

TEST(BoundsTest, OtherCollationServesNoStrings) {
  const FieldTraits other{.same_collation = false};
  EXPECT_EQ(ShowBounds("{'a': 'x'}", other), "none");
  EXPECT_EQ(ShowBounds("{'a': {'$in': [1, 'x']}}", other), "none");
  EXPECT_EQ(ShowBounds("{'a': {'$gt': 5}}", other), "exact (5, inf.0]");
}

TEST(IntervalTest, SetOperations) {
  const auto of = [](std::string_view json) { return BoundsOf(Parse(json).root(), {})->intervals; };
  EXPECT_EQ(Intersect(of("{'a': {'$gt': 1}}"), of("{'a': {'$lte': 7}}"))[0].ToString(true), "[7, 1)");
  EXPECT_TRUE(Intersect(of("{'a': {'$gt': 7}}"), of("{'a': {'$lt': 7}}")).empty());
  EXPECT_EQ(Complement(Complement(of("{'a': {'$in': [1, 5]}}"))).size(), 2u);
  EXPECT_TRUE(Complement({Interval::All()}).empty());
  EXPECT_TRUE(IsAll(Complement({})));
}

TEST(ConditionsTest, ElemMatchGivesPathsWithTheirScope) {
  const Filter filter = Parse("{'x': 1, 'a': {'$elemMatch': {'b': 1, 'c': {'$gt': 2}, 'd': null, 'e': {'$ne': 1}}}}");
  const Conditions conditions = Conditions::Of(filter.root());
  ASSERT_EQ(conditions.conjuncts.size(), 2u);
  std::vector<std::string> paths;
  for (const Condition& condition : conditions.list) paths.push_back(condition.path + "|" + condition.scope_path);
  std::ranges::sort(paths);
  EXPECT_EQ(paths, (std::vector<std::string>{"a.b|a", "a.c|a", "x|"}));
}

TEST(ImplicationTest, SamePathConditions) {
  const auto implies = [](std::string_view query, std::string_view partial) {
    return Implies(Parse(query).root(), Parse(partial).root(), true, nullptr);
  };
  EXPECT_TRUE(implies("{'a': {'$gt': 5}}", "{'a': {'$gt': 1}}"));
  EXPECT_TRUE(implies("{'a': {'$gt': 5}}", "{'a': {'$gte': 5}}"));
  EXPECT_FALSE(implies("{'a': {'$gte': 5}}", "{'a': {'$gt': 5}}"));
  EXPECT_FALSE(implies("{'a': {'$gt': 0}}", "{'a': {'$gt': 1}}"));
  EXPECT_FALSE(implies("{'a': {'$lt': 0}}", "{'a': {'$gt': 1}}"));
  EXPECT_FALSE(implies("{'a': {'$gt': 'x'}}", "{'a': {'$gt': 1}}"));
  EXPECT_TRUE(implies("{'a': 5, 'b': 1}", "{'a': {'$gt': 1}}"));
  EXPECT_TRUE(implies("{'a': {'$in': [5, 6]}}", "{'a': {'$gt': 1}}"));
  EXPECT_FALSE(implies("{'a': {'$in': [5, 0]}}", "{'a': {'$gt': 1}}"));
  EXPECT_TRUE(implies("{'a': 5}", "{'a': {'$exists': true}}"));
  EXPECT_FALSE(implies("{'a': null}", "{'a': {'$exists': true}}"));
  EXPECT_FALSE(implies("{'b': 5}", "{'a': {'$exists': true}}"));
  EXPECT_TRUE(implies("{'$or': [{'a': 5}, {'a': 6}]}", "{'a': {'$gt': 1}}"));
  EXPECT_FALSE(implies("{'$or': [{'a': 5}, {'b': 6}]}", "{'a': {'$gt': 1}}"));
  EXPECT_TRUE(implies("{'a': 5, 'b': 2}", "{'$and': [{'a': {'$gt': 1}}, {'b': 2}]}"));
  EXPECT_FALSE(implies("{'a': {'$numberDouble': 'NaN'}}", "{'a': {'$lt': 5}}"));
  EXPECT_TRUE(implies("{'a': {'$type': 'string'}}", "{'a': {'$type': 'string'}}"));
}

}  // namespace
}  // namespace braid::query::plan
