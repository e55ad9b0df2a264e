// What createIndexes accepts and refuses, code by code.
#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/catalog/index.h"

namespace braid::catalog {
namespace {

using bson::J;

Result<IndexSpec> Parse(std::string_view json) { return IndexSpec::Parse(J(json), nullptr); }
int CodeOf(std::string_view json) { return static_cast<int>(Parse(json).status().code()); }

TEST(IndexSpecTest, Codes) {
  const std::pair<const char*, int> kCases[] = {
      {"{'key': {'a': 1}, 'name': 'a_1'}", 0},
      {"{'key': {'a': 5.5}, 'name': 'x'}", 0},
      {"{'key': {'a.$id': 1}, 'name': 'x'}", 0},
      {"{'key': {'_id': 1}, 'name': 'foo'}", 0},
      {"{'key': {'_id': 'hashed'}, 'name': 'foo'}", 0},
      {"{'key': {'a': 1}, 'name': 'x', 'v': 2, 'background': true, 'ns': 'a.b'}", 0},
      {"{'key': {}, 'name': 'e'}", 67},
      {"{'key': {'a': 1}}", 9},
      {"{'name': 'x'}", 9},
      {"{'key': 1, 'name': 'x'}", 14},
      {"{'key': {'a': 1}, 'name': 1}", 14},
      {"{'key': {'a': 1}, 'name': ''}", 67},
      {"{'key': {'a': 1}, 'name': '*'}", 2},
      {"{'key': {'a': 1}, 'name': '_id_'}", 2},
      {"{'key': {'a': 'foo'}, 'name': 'x'}", 67},
      {"{'key': {'a': 'text'}, 'name': 'x'}", 67},
      {"{'key': {'a': '2dsphere'}, 'name': 'x'}", 67},
      {"{'key': {'$**': 1}, 'name': 'x'}", 67},
      {"{'key': {'a.$**': 1}, 'name': 'x'}", 67},
      {"{'key': {'a': 0}, 'name': 'x'}", 67},
      {"{'key': {'a': true}, 'name': 'x'}", 67},
      {"{'key': {'a': {}}, 'name': 'x'}", 67},
      {"{'key': {'': 1}, 'name': 'x'}", 67},
      {"{'key': {'a..b': 1}, 'name': 'x'}", 67},
      {"{'key': {'$a': 1}, 'name': 'x'}", 67},
      {"{'key': {'a': 1}, 'name': 'x', 'nopeOption': 1}", 197},
      {"{'key': {'a': 1}, 'name': 'x', 'weights': {}}", 67},
      {"{'key': {'a': 1}, 'name': 'x', 'v': 3}", 67},
      {"{'key': {'a': 1}, 'name': 'x', 'unique': 'yes'}", 14},
      {"{'key': {'h': 'hashed'}, 'name': 'x', 'unique': true}", 16764},
      {"{'key': {'h': 'hashed', 'i': 'hashed'}, 'name': 'x'}", 31303},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'z': {'$gt': 1}}, 'sparse': true}", 67},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'z': {'$gt': 1}}}", 0},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'$or': [{'z': 1}, {'y': {'$exists': true}}]}}", 0},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'z': {'$exists': false}}}", 67},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'z': {'$ne': 1}}}", 67},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'z': {'$regex': 'a'}}}", 67},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': 1}", 14},
      {"{'key': {'p': 1}, 'name': 'p', 'partialFilterExpression': {'z': {'$nope': 1}}}", 2},
      {"{'key': {'t': 1}, 'name': 't', 'expireAfterSeconds': -1}", 67},
      {"{'key': {'t': 1}, 'name': 't', 'expireAfterSeconds': 'x'}", 67},
      {"{'key': {'t': 1}, 'name': 't', 'expireAfterSeconds': 3000000000}", 67},
      {"{'key': {'t': 1, 'u': 1}, 'name': 't', 'expireAfterSeconds': 5}", 67},
      {"{'key': {'_id': 1}, 'name': 't', 'expireAfterSeconds': 5}", 197},
      {"{'key': {'_id': 1}, 'name': 't', 'sparse': true}", 197},
      {"{'key': {'_id': -1}, 'name': 't'}", 2},
      {"{'key': {'a': 1}, 'name': 't', 'collation': {}}", 2},
      {"{'key': {'a': 1}, 'name': 't', 'collation': {'strength': 2}}", 40414},
      {"{'key': {'a': 1}, 'name': 't', 'collation': 1}", 14},
  };
  for (const auto& [json, code] : kCases) EXPECT_EQ(CodeOf(json), code) << json << Parse(json).status().ToString();
}

TEST(IndexSpecTest, FieldNameTwice) {
  bson::Builder key;
  key.Append("a", 1).Append("a", -1);
  EXPECT_EQ(IndexSpec::Parse(bson::Make("key", key.Finish(), "name", "x"), nullptr).status().code(), Code::kBadValue);
}

TEST(IndexSpecTest, AtMost32Fields) {
  for (int fields : {32, 33}) {
    bson::Builder key;
    for (int i = 0; i < fields; ++i) key.Append(StrCat("f", i), 1);
    const auto spec = IndexSpec::Parse(bson::Make("key", key.Finish(), "name", "x"), nullptr);
    EXPECT_EQ(spec.status().code(), fields == 32 ? Code::kOk : Location(13103));
  }
}

TEST(IndexSpecTest, ShownAsListIndexesDoes) {
  const auto spec = Parse(
      "{'name': 't', 'key': {'t': -1}, 'expireAfterSeconds': {'$numberLong': '5'}, 'unique': 1, 'background': true, "
      "'hidden': true, 'partialFilterExpression': {'z': {'$gt': 1}}}");
  ASSERT_OK(spec);
  EXPECT_EQ(bson::ToShell(spec->ToBson()),
            "{ v: 2, key: { t: -1 }, name: \"t\", unique: true, background: true, hidden: true, expireAfterSeconds: 5, "
            "partialFilterExpression: { z: { $gt: 1 } } }");
  const auto again = IndexSpec::Parse(spec->ToBson(), nullptr);
  ASSERT_OK(again);
  EXPECT_EQ(again->ToBson().bytes(), spec->ToBson().bytes());
}

TEST(IndexSpecTest, CollationIsTheCollectionsUnlessNamed) {
  auto collation = bson::Collation::Parse(J("{'locale': 'en_US', 'strength': 2}"));
  ASSERT_OK(collation);
  const auto inherited = IndexSpec::Parse(J("{'key': {'a': 1}, 'name': 'x'}"), *collation);
  const auto simple =
      IndexSpec::Parse(J("{'key': {'a': 1}, 'name': 'x', 'collation': {'locale': 'simple'}}"), *collation);
  ASSERT_OK(inherited);
  ASSERT_OK(simple);
  EXPECT_EQ(inherited->collation, *collation);
  EXPECT_EQ(simple->collation, nullptr);
  EXPECT_EQ(inherited->ToBson().Find("collation").AsView().Find("strength").AsInt32(), 2);
}

TEST(IndexSpecTest, Conflicts) {
  const auto existing = *Parse("{'key': {'a': 1}, 'name': 'a_1'}");
  const auto compare = [&existing](std::string_view json) { return Parse(json)->CompareWith(existing); };
  EXPECT_TRUE(*compare("{'key': {'a': 1}, 'name': 'a_1'}"));
  EXPECT_TRUE(*compare("{'key': {'a': 1.0}, 'name': 'a_1'}"));
  EXPECT_FALSE(*compare("{'key': {'a': 5.5}, 'name': 'x'}"));
  EXPECT_FALSE(*compare("{'key': {'b': 1}, 'name': 'b_1'}"));
  EXPECT_EQ(compare("{'key': {'a': 1}, 'name': 'other'}").status().code(), Code::kIndexOptionsConflict);
  EXPECT_EQ(compare("{'key': {'b': 1}, 'name': 'a_1'}").status().code(), Code::kIndexKeySpecsConflict);
  EXPECT_EQ(compare("{'key': {'a': 1}, 'name': 'a_1', 'unique': true}").status().code(), Code::kIndexOptionsConflict);
  EXPECT_EQ(compare("{'key': {'a': 1}, 'name': 'a_1', 'expireAfterSeconds': 1}").status().code(),
            Code::kIndexOptionsConflict);
}

}  // namespace
}  // namespace braid::catalog
