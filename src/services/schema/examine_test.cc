// Stores that are not Braid, without one: what is asked of them, and what is said about the rest.
#include "services/schema/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/testing.h"

namespace braid::schema {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace braid::schema
