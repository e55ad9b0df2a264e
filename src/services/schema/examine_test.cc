// Stores that are not Braid, without one: what is asked of them, and what is said about the rest;
// and where two documents differ.
#include "services/schema/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "client/handles.h"

namespace braid::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Wanted Sharded() {
  auto wanted = ReadSpec({.name = "orders",
                          .indexes = {{.keys = R"({"order_id": 1})", .unique = true},
                                      {.keys = R"({"user_id": 1, "day": 1})", .unique = true}},
                          .shard_key = R"({"user_id": "hashed"})"});
  EXPECT_OK(wanted);
  return *std::move(wanted);
}

TEST(AdaptTest, ShardKeyIsSkippedWhereNothingIsSharded) {
  Wanted wanted = Sharded();
  const std::vector<Finding> skipped = Adapt({.shards = false, .unique_over_shards = false}, wanted);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].state, State::kSkipped);
  EXPECT_EQ(skipped[0].field, "shard_key");
  EXPECT_THAT(skipped[0].note, HasSubstr("not a sharded cluster"));
  EXPECT_EQ(wanted.shard_key, nullptr);
  EXPECT_TRUE(wanted.indexes[0].unique) << "one replica set can keep it";
}

TEST(AdaptTest, MongoClusterGetsNoUniqueIndexWithoutTheShardKey) {
  Wanted wanted = Sharded();
  const std::vector<Finding> skipped = Adapt({.shards = true, .unique_over_shards = false}, wanted);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].field, "indexes.order_id_1.unique");
  EXPECT_FALSE(bson_has_field(wanted.indexes[0].definition.get(), "unique"));
  EXPECT_TRUE(bson_has_field(wanted.indexes[1].definition.get(), "unique")) << "it begins with the shard key's field";
  EXPECT_NE(wanted.shard_key, nullptr);
}

TEST(AdaptTest, BraidHasEverything) {
  Wanted wanted = Sharded();
  EXPECT_TRUE(Adapt({.shards = true, .unique_over_shards = true}, wanted).empty());
  EXPECT_TRUE(wanted.indexes[0].unique);
}

TEST(ExamineTest, ViewInPlaceOfACollectionIsDifferentAndNothingElseIsSaid) {
  Actual actual{.type = "view", .options = client::BsonPtr(bson_new())};
  const std::vector<Finding> findings = Examine(Sharded(), actual);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].state, State::kDifferent);
  EXPECT_EQ(findings[0].field, "type");
  EXPECT_EQ(findings[0].found, "\"view\"");
}

// "path: expected | found" for each difference.
std::vector<std::string> Differ(std::string_view expected, std::string_view found) {
  const auto left = client::ParseJson(expected);
  const auto right = client::ParseJson(found);
  std::vector<std::string> lines;
  if (!left.ok() || !right.ok()) return {"not JSON"};
  for (const FieldDifference& each : FindDifferences(**left, **right, "")) {
    lines.push_back(StrCat(each.path, ": ", each.expected, " | ", each.found));
  }
  return lines;
}

TEST(DifferencesTest, OrderOfFieldsAndWidthOfNumbersDoNotCount) {
  EXPECT_THAT(
      Differ(R"({"a": 1, "b": {"c": 2, "d": [1, {"x": 1, "y": 2}]}})",
             R"({"b": {"d": [1.0, {"y": {"$numberLong": "2"}, "x": 1}], "c": 2.0}, "a": {"$numberLong": "1"}})"),
      IsEmpty());
}

TEST(DifferencesTest, ListsThatAreSetsHaveNoOrderAndOthersHave) {
  EXPECT_THAT(Differ(R"({"required": ["a", "b"], "enum": [1, 2], "bsonType": ["int", "long"]})",
                     R"({"bsonType": ["long", "int"], "enum": [2, 1], "required": ["b", "a"]})"),
              IsEmpty());
  EXPECT_THAT(Differ(R"({"required": ["a", "b"]})", R"({"required": ["a", "a"]})"),
              ElementsAre(R"(required: [ "a", "b" ] | [ "a", "a" ])"));
  EXPECT_THAT(Differ(R"({"allOf": [1, 2]})", R"({"allOf": [2, 1]})"), ElementsAre("allOf.0: 1 | 2", "allOf.1: 2 | 1"));
  // A property may be called as a keyword is.
  EXPECT_THAT(
      Differ(R"({"properties": {"enum": {"enum": ["x", "y"]}}})", R"({"properties": {"enum": {"enum": ["y"]}}})"),
      ElementsAre(R"(properties.enum.enum: [ "x", "y" ] | [ "y" ])"));
}

TEST(DifferencesTest, NamesThePathOfEveryFieldThatDiffers) {
  EXPECT_THAT(
      Differ(R"({"p": {"qty": {"minimum": 0, "bsonType": "int"}, "name": {"minLength": 1}}})",
             R"({"p": {"qty": {"minimum": 1, "bsonType": "int"}, "note": {}}, "q": true})"),
      ElementsAre("p.qty.minimum: 0 | 1", R"(p.name: { "minLength" : 1 } | )", "p.note:  | {  }", "q:  | true"));
}

TEST(DifferencesTest, TypesThatAreNotTheSameNumberDiffer) {
  EXPECT_THAT(Differ(R"({"a": 1})", R"({"a": "1"})"), ElementsAre(R"(a: 1 | "1")"));
  EXPECT_THAT(Differ(R"({"a": {"b": 1}})", R"({"a": [1]})"), ElementsAre(R"(a: { "b" : 1 } | [ 1 ])"));
  EXPECT_THAT(Differ(R"({"a": 9007199254740993})", R"({"a": 9007199254740992})"),
              ElementsAre("a: 9007199254740993 | 9007199254740992"));
  EXPECT_THAT(Differ(R"({"a.b": 1})", R"({"a": {"b": 1}})"), ElementsAre("a.b: 1 | ", R"(a:  | { "b" : 1 })"));
}

TEST(DifferencesTest, KeysHaveAnOrder) {
  const auto same = [](std::string_view a, std::string_view b) {
    return SameKeys(**client::ParseJson(a), **client::ParseJson(b));
  };
  EXPECT_TRUE(same(R"({"a": 1, "b": -1})", R"({"a": 1.0, "b": {"$numberLong": "-1"}})"));
  EXPECT_FALSE(same(R"({"a": 1, "b": 1})", R"({"b": 1, "a": 1})"));
  EXPECT_FALSE(same(R"({"a": 1})", R"({"a": "hashed"})"));
  EXPECT_FALSE(same(R"({"a": 1})", R"({"a": 1, "b": 1})"));
}

}  // namespace

}  // namespace braid::schema
