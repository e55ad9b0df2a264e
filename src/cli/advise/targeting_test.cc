#include "cli/advise/targeting.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

using bson::J;

ShardKey Key(std::string_view text) { return *ShardKey::Parse(J(text)); }

// Four shards over {a: 0…99, b: 0…9}, in the order of the key.
size_t Asked(std::string_view key_text, std::string_view filter, bool collated = false) {
  const ShardKey key = Key(key_text);
  std::vector<std::string> keys;
  for (int a = 0; a < 100; ++a) {
    for (int b = 0; b < 10; ++b) {
      const bson::Document document = bson::Make("a", a, "b", b, "n", bson::Make("x", a), "s", StrCat("k", 100 + a));
      keys.push_back(key.Encode(*key.ValuesOf(document)));
    }
  }
  std::sort(keys.begin(), keys.end());
  const Placement placement = key.IsHashed() ? Placement::OfHashes(4) : Placement::OfQuantiles(keys, 4);
  Operation operation;
  operation.filter = J(filter);
  operation.collated = collated;
  return ShardsAsked(ParsedFilter(operation), key, placement);
}

TEST(TargetingTest, HashedByEqualityAndIn) {
  const char* key = "{'a': 'hashed'}";
  EXPECT_EQ(Asked(key, "{'a': 5}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$eq': 5}, 'b': {'$gt': 1}}"), 1u);
  EXPECT_EQ(Asked(key, "{'$and': [{'b': 1}, {'a': 5}]}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$in': [5]}}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$in': []}}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$in': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}}"), 4u);
  EXPECT_EQ(Asked(key, "{'a': null}"), 1u);
  const size_t two = Asked(key, "{'a': {'$in': [42, 12345]}}");  // their hashes have different signs
  EXPECT_EQ(two, 2u);
}

TEST(TargetingTest, HashedByNothingElse) {
  for (const char* filter :
       {"{}", "{'b': 1}", "{'a': {'$gt': 5}}", "{'a': {'$gte': 5, '$lte': 6}}", "{'a': {'$lt': 5}}",
        "{'a': {'$ne': 5}}", "{'a': {'$nin': [5]}}", "{'a': {'$exists': true}}", "{'a': {'$type': 'int'}}",
        "{'a': {'$mod': [2, 0]}}", "{'a': {'$not': {'$eq': 5}}}", "{'a.x': 5}", "{'$nor': [{'a': 5}]}",
        "{'$expr': {'$eq': ['$a', 5]}}"}) {
    EXPECT_EQ(Asked("{'a': 'hashed'}", filter), 4u) << filter;
  }
  EXPECT_EQ(Asked("{'s': 'hashed'}", "{'s': {'$regularExpression': {'pattern': '^k1', 'options': ''}}}"), 4u);
}

TEST(TargetingTest, RangedByRanges) {
  const char* key = "{'a': 1}";
  EXPECT_EQ(Asked(key, "{'a': 5}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$in': [1, 2, 99]}}"), 2u);
  EXPECT_EQ(Asked(key, "{'a': {'$lt': 10}}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$lte': 30}}"), 2u);
  EXPECT_EQ(Asked(key, "{'a': {'$gt': 60}}"), 2u);
  EXPECT_EQ(Asked(key, "{'a': {'$gte': 90}}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$gte': 30, '$lt': 40}}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$gt': 30}, '$and': [{'a': {'$lt': 40}}]}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$ne': 5}}"), 4u);
  EXPECT_EQ(Asked(key, "{'a': {'$exists': true}}"), 4u);
  EXPECT_EQ(Asked(key, "{'a': null}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$gt': 5, '$lt': 3}}"), 1u) << "nothing can match, one shard is asked";
  EXPECT_EQ(Asked(key, "{'b': 1}"), 4u);
  EXPECT_EQ(Asked("{'s': 1}", "{'s': {'$regularExpression': {'pattern': '^k10', 'options': ''}}}"), 1u);
  EXPECT_EQ(Asked("{'s': 1}", "{'s': {'$regex': '^k10'}}"), 1u);
  EXPECT_EQ(Asked("{'s': 1}", "{'s': {'$regex': '0$'}}"), 4u);
  EXPECT_EQ(Asked("{'n.x': 1}", "{'n.x': 5}"), 1u);
  EXPECT_EQ(Asked("{'n.x': 1}", "{'n': {'x': 5}}"), 4u);
}

TEST(TargetingTest, CompoundByItsPrefix) {
  const char* key = "{'a': 1, 'b': 1}";
  EXPECT_EQ(Asked(key, "{'a': 5, 'b': 3}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': 5}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': 5, 'b': {'$gt': 3}}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$lt': 10}, 'b': 3}"), 1u);
  EXPECT_EQ(Asked(key, "{'a': {'$in': [1, 99]}, 'b': {'$in': [1, 2]}}"), 2u);
  EXPECT_EQ(Asked(key, "{'b': 3}"), 4u) << "the leading field is what places";
  EXPECT_EQ(Asked("{'a': 'hashed', 'b': 1}", "{'a': 5, 'b': {'$gt': 3}}"), 1u);
  EXPECT_EQ(Asked("{'a': 'hashed', 'b': 1}", "{'a': {'$gt': 5}, 'b': 3}"), 4u);
  EXPECT_EQ(Asked("{'b': 1, 'a': 'hashed'}", "{'b': 3, 'a': 7}"), 1u);
}

TEST(TargetingTest, OrNeedsEveryBranch) {
  EXPECT_EQ(Asked("{'a': 'hashed'}", "{'$or': [{'a': 5}, {'a': 5, 'b': 1}]}"), 1u);
  EXPECT_EQ(Asked("{'a': 'hashed'}", "{'$or': [{'a': 5}, {'b': 1}]}"), 4u);
  EXPECT_EQ(Asked("{'a': 1}", "{'$or': [{'a': 1}, {'a': {'$gt': 95}}]}"), 2u);
  EXPECT_EQ(Asked("{'a': 1}", "{'$or': [{'$or': [{'a': 1}, {'a': 2}]}, {'$and': [{'a': 3}]}]}"), 1u);
  EXPECT_EQ(Asked("{'a': 1}", "{'a': 1, '$or': [{'b': 1}, {'b': 2}]}"), 1u);
  EXPECT_EQ(Asked("{'b': 1, 'a': 1}", "{'b': 1, '$or': [{'a': 1}, {'a': 2}]}"), 1u) << "a branch adds to what is known";
}

TEST(TargetingTest, ACollationUnplacesTexts) {
  EXPECT_EQ(Asked("{'s': 'hashed'}", "{'s': 'k101'}"), 1u);
  EXPECT_EQ(Asked("{'s': 'hashed'}", "{'s': 'k101'}", true), 4u);
  EXPECT_EQ(Asked("{'s': 1}", "{'s': 'k101'}", true), 4u);
  EXPECT_EQ(Asked("{'a': 'hashed'}", "{'a': 5}", true), 1u);
}

TEST(TargetingTest, ConditionsTheEngineDoesNotParseNeverNarrow) {
  EXPECT_EQ(Asked("{'a': 'hashed'}", "{'$where': 'true'}"), 4u);
  EXPECT_EQ(Asked("{'a': 'hashed'}", "{'a': 5, '$where': 'true'}"), 1u);
  EXPECT_EQ(Asked("{'a': 'hashed'}", "{'a': 5, '$expr': {'$eq': ['$b', '$$unknown']}}"), 1u);
}

TEST(ShardKeyTest, ParsesAndRefuses) {
  EXPECT_EQ(Key("{'a.b': 'hashed', 'c': 1.0}").ToText(), "{ \"a.b\": \"hashed\", c: 1 }");
  for (const char* bad : {"{}", "{'a': -1}", "{'a': 'text'}", "{'a': 'hashed', 'b': 'hashed'}", "{'$a': 1}",
                          "{'a..b': 1}", "{'a': true}"}) {
    EXPECT_FALSE(ShardKey::Parse(J(bad)).ok()) << bad;
  }
  EXPECT_FALSE(Key("{'a.b': 1}").ValuesOf(J("{'a': [{'b': 1}]}")).has_value());
  EXPECT_TRUE(Key("{'a.b': 1}").ValuesOf(J("{'a': 5}"))->front().Is(bson::Type::kNull));
}

}  // namespace
}  // namespace braid::advise
