#include "engine/sharding/shard_key.h"

#include <algorithm>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/hash.h"
#include "engine/bson/json.h"

namespace braid::sharding {
namespace {

ShardKey Key(std::string_view pattern) {
  auto key = ShardKey::Parse(bson::J(pattern));
  EXPECT_OK(key);
  return *key;
}

/// What a document's key is made of, as people read it; or the code.
std::string Values(const ShardKey& key, std::string_view document) {
  const auto values = key.ValuesOf(bson::J(document));
  return values.ok() ? bson::ToShell(*values) : StrCat(static_cast<int>(values.error().code()));
}

TEST(ShardKeyTest, ParseTakesRangedHashedAndCompoundKeys) {
  EXPECT_EQ(Key("{'a': 1}").fields().size(), 1u);
  EXPECT_FALSE(Key("{'a': 1}").has_hashed_field());
  EXPECT_FALSE(Key("{'a': 1.0, 'b.c': {'$numberLong': '1'}}").starts_hashed());
  EXPECT_TRUE(Key("{'a': 'hashed'}").starts_hashed());
  EXPECT_TRUE(Key("{'a': 'hashed', 'b': 1}").starts_hashed());
  EXPECT_FALSE(Key("{'a': 1, 'b': 'hashed'}").starts_hashed());
  EXPECT_TRUE(Key("{'a': 1, 'b': 'hashed'}").has_hashed_field());
  EXPECT_TRUE(ShardKey().empty());
}

TEST(ShardKeyTest, ParseRefusesWhatMongoDbRefuses) {
  std::string many = "{";
  for (int i = 0; i < 33; ++i) many += StrCat(i > 0 ? ", " : "", "'f", i, "': 1");
  for (const std::string& pattern :
       {std::string("{}"), std::string("{'a': -1}"), std::string("{'a': 0}"), std::string("{'a': 2}"),
        std::string("{'a': '2d'}"), std::string("{'a': 'Hashed'}"), std::string("{'a': true}"),
        std::string("{'a': null}"), std::string("{'a': 'hashed', 'b': 'hashed'}"), std::string("{'a': 1, 'a': 1}"),
        std::string("{'': 1}"), std::string("{'.a': 1}"), std::string("{'a.': 1}"), std::string("{'a..b': 1}"),
        std::string("{'$a': 1}"), std::string("{'a.$b': 1}"), many + "}"}) {
    const auto key = ShardKey::Parse(bson::J(pattern));
    ASSERT_FALSE(key.ok()) << pattern;
    EXPECT_EQ(key.error().code(), Code::kBadValue) << pattern;
  }
}

TEST(ShardKeyTest, IsOfIdOnlyIfEveryFieldIs) {
  EXPECT_TRUE(Key("{'_id': 'hashed'}").is_of_id());
  EXPECT_TRUE(Key("{'_id': 1}").is_of_id());
  EXPECT_TRUE(Key("{'_id.a': 1, '_id.b': 'hashed'}").is_of_id());
  EXPECT_FALSE(Key("{'_id': 1, 'a': 1}").is_of_id());
  EXPECT_FALSE(Key("{'_idx': 1}").is_of_id());
}

TEST(ShardKeyTest, MissingFieldsAreNull) {
  EXPECT_EQ(Values(Key("{'a': 1, 'b': 1}"), "{'a': 5}"), "{ a: 5, b: null }");
  EXPECT_EQ(Values(Key("{'a.b': 1}"), "{'a': 5}"), "{ a.b: null }");
  const ShardKey hashed = Key("{'a': 'hashed'}");
  EXPECT_EQ(hashed.KeyOf(bson::J("{}")).value(), hashed.KeyOf(bson::J("{'a': null}")).value());
  EXPECT_EQ(hashed.ValuesOf(bson::J("{}"))->Find("a").AsInt64(), 2338878944348059895);
  EXPECT_EQ(hashed.PlainValuesOf(bson::J("{}"))->Find("a").type(), bson::Type::kNull);
}

TEST(ShardKeyTest, ArraysRegexesAndUndefinedCannotBePlaced) {
  for (const char* pattern : {"{'a': 1}", "{'a': 'hashed'}", "{'x': 1, 'a': 'hashed'}", "{'a.b': 1}"}) {
    const ShardKey key = Key(pattern);
    for (const char* document : {"{'a': [1, 2]}", "{'a': []}"}) {
      const auto made = key.KeyOf(bson::J(document));
      ASSERT_FALSE(made.ok()) << pattern << " " << document;
      EXPECT_EQ(made.error().code(), Code::kShardKeyNotFound);
    }
  }
  for (const char* document :
       {"{'a': {'$regularExpression': {'pattern': 'x', 'options': ''}}}", "{'a': {'$undefined': true}}"}) {
    for (const char* pattern : {"{'a': 1}", "{'a': 'hashed'}"}) EXPECT_EQ(Values(Key(pattern), document), "61");
  }
  // On the way to the field as well as in it.
  EXPECT_EQ(Values(Key("{'a.b': 1}"), "{'a': [{'b': 1}]}"), "61");
  EXPECT_EQ(Values(Key("{'a.b': 1}"), "{'a': {'b': [1]}}"), "61");
  // Inside a value an array is only a value.
  EXPECT_EQ(Values(Key("{'a': 1}"), "{'a': {'b': [1]}}"), "{ a: { b: [ 1 ] } }");
}

TEST(ShardKeyTest, KeysAreInTheOrderOfTheirValues) {
  const ShardKey key = Key("{'a': 1, 'b': 1}");
  const char* ascending[] = {"{'a': {'$minKey': 1}}",
                             "{}",
                             "{'a': null, 'b': 1}",
                             "{'a': -1, 'b': 9}",
                             "{'a': 1}",
                             "{'a': 1, 'b': 1}",
                             "{'a': 1.5, 'b': 'x'}",
                             "{'a': 'a', 'b': 2}",
                             "{'a': 'ab', 'b': 1}",
                             "{'a': {'b': 1}}",
                             "{'a': {'$maxKey': 1}}"};
  for (size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(key.KeyOf(bson::J(ascending[i - 1])).value(), key.KeyOf(bson::J(ascending[i])).value()) << ascending[i];
  }
  // Equal numbers of different types are one key.
  EXPECT_EQ(key.KeyOf(bson::J("{'a': 1}")).value(), key.KeyOf(bson::J("{'a': {'$numberDecimal': '1.0'}}")).value());
}

// Where MongoDB would put them (E2).
TEST(ShardKeyTest, HashedValuesAreMongoDbs) {
  const ShardKey key = Key("{'a': 'hashed'}");
  const auto hash = [&key](std::string_view value) {
    return key.ValuesOf(bson::J(StrCat("{'a': ", value, "}")))->Find("a").AsInt64();
  };
  EXPECT_EQ(hash("'abc'"), 8478485326885698097);
  EXPECT_EQ(hash("'user1'"), 801843209332933044);
  EXPECT_EQ(hash("1"), 5902408780260971510);
  EXPECT_EQ(hash("1.987"), 5902408780260971510);
  EXPECT_EQ(hash("{'$numberDecimal': '2.5'}"), 848411777775835583);
  EXPECT_EQ(hash("{'$numberDouble': '9223372036854775808'}"), 4532067210535695462);
  EXPECT_EQ(hash("{'$oid': '507f1f77bcf86cd799439011'}"), -3048436677993134862);
  EXPECT_EQ(hash("{'b': 1}"), bson::MongoHash(bson::J("{'v': {'b': 1}}").Find("v")));
  // The bytes of the key are those of the hash, in its order.
  EXPECT_EQ(key.KeyOf(bson::J("{'a': 'abc'}")).value(),
            key.Encode(bson::Make("a", int64_t{8478485326885698097})).value());
}

TEST(ShardKeyTest, EncodeWantsExactlyTheFields) {
  const ShardKey key = Key("{'a': 1, 'b': 1}");
  ASSERT_OK(key.Encode(bson::J("{'a': 1, 'b': {'$minKey': 1}}")));
  for (const char* bound : {"{}", "{'a': 1}", "{'b': 1, 'a': 1}", "{'a': 1, 'c': 1}", "{'a': 1, 'b': 1, 'c': 1}"}) {
    const auto encoded = key.Encode(bson::J(bound));
    ASSERT_FALSE(encoded.ok()) << bound;
    EXPECT_EQ(encoded.error().code(), Code::kBadValue);
  }
}

TEST(ShardKeyTest, CompleteFillsUpWithMinKey) {
  const ShardKey key = Key("{'a': 1, 'b': 1, 'c': 1}");
  EXPECT_EQ(bson::Compare(*key.Complete(bson::J("{}")), key.Lowest()), 0);
  EXPECT_EQ(
      bson::Compare(*key.Complete(bson::J("{'a': 1, 'b': 'x'}")), bson::J("{'a': 1, 'b': 'x', 'c': {'$minKey': 1}}")),
      0);
  for (const char* bound : {"{'b': 1}", "{'a': 1, 'c': 1}", "{'a': 1, 'b': 1, 'c': 1, 'd': 1}"}) {
    EXPECT_EQ(key.Complete(bson::J(bound)).error().code(), Code::kBadValue) << bound;
  }
  EXPECT_LT(key.Encode(key.Lowest()).value(), key.KeyOf(bson::J("{}")).value());
  EXPECT_GT(key.Encode(key.Highest()).value(), key.KeyOf(bson::J("{'a': 'z', 'b': true}")).value());
}

bool HashesOfEqualHave(std::string_view of, std::string_view equal) {
  const bson::Document a = bson::J(StrCat("{'v': ", of, "}"));
  const bson::Document b = bson::J(StrCat("{'v': ", equal, "}"));
  EXPECT_EQ(bson::Compare(a.Find("v"), b.Find("v")), 0) << of << " and " << equal << " are not equal";
  const auto hashes = bson::HashesOfEqual(a.Find("v"));
  if (!hashes) return true;  // may be anywhere
  return std::ranges::find(*hashes, bson::MongoHash(b.Find("v"))) != hashes->end();
}

// A filter finds a document by an equal number of another type, though MongoDB hashes the two differently.
TEST(HashesOfEqualTest, EqualNumbersOfEveryType) {
  const char* equals[][2] = {
      {"3.5", "{'$numberDecimal': '3.5'}"},
      {"{'$numberDecimal': '3.50'}", "3.5"},
      {"-0.75", "{'$numberDecimal': '-0.75'}"},
      {"-3.5", "{'$numberDecimal': '-3.5'}"},
      {"{'$numberDecimal': '-2.5'}", "-2.5"},
      {"7", "{'$numberDecimal': '7'}"},
      {"7", "7.0"},
      {"{'$numberDouble': '9223372036854775808'}", "{'$numberDecimal': '9223372036854775808'}"},
      {"{'$numberDecimal': '9223372036854775808'}", "{'$numberDouble': '9223372036854775808'}"},
      {"{'$numberLong': '-9223372036854775808'}", "{'$numberDouble': '-9223372036854775808'}"},
      {"{'$numberDouble': '-9223372036854775808'}", "{'$numberLong': '-9223372036854775808'}"},
      {"{'$numberLong': '9223372036854775807'}", "{'$numberDecimal': '9223372036854775807'}"},
      {"{'$numberDouble': '1e300'}", "{'$numberDouble': '1e300'}"},
      {"{'$numberDouble': 'Infinity'}", "{'$numberDecimal': 'Infinity'}"},
      {"{'$numberDouble': '-Infinity'}", "{'$numberDecimal': '-Infinity'}"},
      {"{'$numberDouble': 'NaN'}", "{'$numberDecimal': 'NaN'}"},
      {"{'$numberDouble': '-0.0'}", "0"},
      {"{'a': [3.5]}", "{'a': [{'$numberDecimal': '3.5'}]}"},
      {"{'a': [3]}", "{'a': [{'$numberDecimal': '3'}]}"},
      {"[1, 2]", "[1.0, {'$numberLong': '2'}]"},
  };
  for (const auto& [of, equal] : equals) {
    EXPECT_TRUE(HashesOfEqualHave(of, equal)) << of << " " << equal;
    EXPECT_TRUE(HashesOfEqualHave(equal, of)) << equal << " " << of;
  }
  // They must stay few, or nothing would be targeted.
  EXPECT_EQ(bson::HashesOfEqual(bson::J("{'v': 7.0}").Find("v"))->size(), 1u);
  EXPECT_EQ(bson::HashesOfEqual(bson::J("{'v': 3.5}").Find("v"))->size(), 2u);
  EXPECT_EQ(bson::HashesOfEqual(bson::J("{'v': {'a': [1, 'x', null]}}").Find("v"))->size(), 1u);
  EXPECT_EQ(bson::HashesOfEqual(bson::J("{'v': {'a': 3.5}}").Find("v")), std::nullopt);
}

TEST(HashesOfEqualTest, AnyDoubleAndTheEqualDecimal) {
  Random random(test::Seed());
  for (int i = 0; i < 2000; ++i) {
    // Multiples of 1/8 have short decimals: exact in both types.
    const int64_t eighths = static_cast<int64_t>(random.Next() >> random.Below(62)) * (random.Chance(1, 2) ? 1 : -1);
    const int64_t small = eighths % (int64_t{1} << 50);
    const int64_t whole = small / 8;
    const int64_t rest = std::abs(small % 8) * 125;
    const std::string decimal = StrCat("{'$numberDecimal': '", small < 0 ? "-" : "", std::abs(whole), ".",
                                       rest < 100 ? "0" : "", rest < 10 ? "0" : "", rest, "'}");
    const bson::Document of_double = bson::Make("v", static_cast<double>(small) / 8);
    const bson::Document of_decimal = bson::J(StrCat("{'v': ", decimal, "}"));
    ASSERT_EQ(bson::Compare(of_double.Find("v"), of_decimal.Find("v")), 0) << decimal;
    const auto hashes = bson::HashesOfEqual(of_double.Find("v"));
    ASSERT_TRUE(hashes.has_value());
    EXPECT_NE(std::ranges::find(*hashes, bson::MongoHash(of_decimal.Find("v"))), hashes->end()) << decimal;
    EXPECT_NE(std::ranges::find(*hashes, bson::MongoHash(of_double.Find("v"))), hashes->end()) << decimal;
    EXPECT_EQ(*hashes, *bson::HashesOfEqual(of_decimal.Find("v"))) << decimal;
  }
}

}  // namespace
}  // namespace braid::sharding
