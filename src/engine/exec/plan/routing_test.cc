#include "engine/exec/plan/routing.h"

#include <algorithm>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/hash.h"
#include "engine/bson/json.h"

namespace braid::query::plan {
namespace {

using sharding::Placement;
using sharding::ShardNumbers;

std::shared_ptr<const bson::Collation> English() {
  return bson::Collation::Parse(bson::J("{'locale': 'en', 'strength': 2}")).value();
}

/// A table of chunks, and where filters are sent by it.
class Table {
 public:
  explicit Table(std::string_view pattern) : placement_(std::make_shared<Placement>()) {
    auto key = sharding::ShardKey::Parse(bson::J(pattern));
    EXPECT_OK(key);
    placement_->key = *key;
    placement_->chunks.push_back(
        {.begin = placement_->key.Encode(placement_->key.Lowest()).value(), .min = placement_->key.Lowest()});
    collection_.placement = placement_;
  }

  Placement& placement() { return *placement_; }
  const catalog::Collection& collection() const { return collection_; }
  void Split(bson::View bound) { ASSERT_OK(placement_->Split(placement_->key.Complete(bound).value())); }
  void Split(std::string_view bound) { Split(bson::J(bound).view()); }
  /// Chunk i is on shard i.
  void Number() {
    for (size_t i = 0; i < placement_->chunks.size(); ++i) {
      placement_->chunks[i].shard = static_cast<storage::ShardNumber>(i);
    }
  }
  storage::ShardNumber Of(std::string_view document) const {
    return placement_->ChunkOf(placement_->key.KeyOf(bson::J(document)).value()).shard;
  }

  ShardNumbers Route(std::string_view filter, const std::shared_ptr<const bson::Collation>& collation = nullptr) const {
    auto environment = std::make_shared<Environment>();
    environment->collation = collation;
    const auto parsed = Filter::Parse(bson::J(filter), environment);
    EXPECT_OK(parsed);
    return RouteFilter(collection_, *parsed, collation.get());
  }

 private:
  std::shared_ptr<Placement> placement_;
  catalog::Collection collection_;
};

/// {a: 1}: shard 0 has all below 10, shard 1 those below 20, … shard 4 has 40 and everything above.
Table Ranged() {
  Table table("{'a': 1}");
  for (const char* bound : {"{'a': 10}", "{'a': 20}", "{'a': 30}", "{'a': 40}"}) table.Split(bound);
  table.Number();
  return table;
}

/// {a: 'hashed'} in 16 ranges, each on a shard of its own.
Table Hashed(std::string_view pattern = "{'a': 'hashed'}") {
  Table table(pattern);
  ShardNumbers shards;
  for (storage::ShardNumber i = 0; i < 16; ++i) shards.push_back(i);
  EXPECT_OK(sharding::SplitInitially(shards, 0, 16, &table.placement()));
  return table;
}

const ShardNumbers kFive{0, 1, 2, 3, 4};
const ShardNumbers kSixteen{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TEST(RoutingTest, RangedKey) {
  const Table table = Ranged();
  const std::pair<const char*, ShardNumbers> cases[] = {
      {"{}", kFive},
      {"{'b': 5}", kFive},
      {"{'a': 15}", {1}},
      {"{'a': 20}", {2}},
      {"{'a': {'$eq': {'$numberDecimal': '20.0'}}}", {2}},
      {"{'a': {'$in': [5, 35, 36]}}", {0, 3}},
      {"{'a': {'$gte': 10, '$lt': 20}}", {1}},
      {"{'a': {'$gte': 10, '$lte': 20}}", {1, 2}},
      {"{'a': {'$gt': 19, '$lt': 31}}", {1, 2, 3}},
      {"{'a': {'$lt': 10}}", {0}},
      {"{'a': {'$gt': 40}}", {4}},
      {"{'a': null}", {0}},
      {"{'a': {'$exists': false}}", {0}},
      {"{'a': 'text'}", {4}},
      {"{'$and': [{'a': {'$gte': 15}}, {'$and': [{'a': {'$lt': 25}}, {'b': 1}]}]}", {1, 2}},
      {"{'a': {'$gte': 15}, '$or': [{'a': 16}, {'a': {'$lt': 18}}]}", {1}},
      {"{'$or': [{'a': 5}, {'a': {'$gte': 40}}]}", {0, 4}},
      {"{'$or': [{'a': 5}, {'b': 1}]}", kFive},
      {"{'a': 15, '$or': [{'b': 1}, {'c': 1}]}", {1}},
      {"{'$or': [{'a': 15}, {'a': 25}], 'a': {'$lt': 20}}", {1}},
      {"{'$or': [{'$or': [{'a': 15}, {'a': 16}]}]}", {1}},
      {"{'a': {'$elemMatch': {'b': 15}}}", kFive},
  };
  for (const auto& [filter, shards] : cases) EXPECT_EQ(table.Route(filter), shards) << filter;
}

TEST(RoutingTest, WhatNothingCanMeetGoesToOneShard) {
  for (const Table& table : {Ranged(), Hashed()}) {
    for (const char* filter : {"{'a': {'$in': []}}", "{'$and': [{'a': 5}, {'a': 35}]}", "{'$alwaysFalse': 1}",
                               "{'a': 'x', '$or': [{'a': 5}, {'a': 6}]}"}) {
      EXPECT_EQ(table.Route(filter).size(), 1u) << filter;
    }
  }
  EXPECT_EQ(Ranged().Route("{'a': {'$gt': 35, '$lt': 5}}").size(), 1u);
}

TEST(RoutingTest, HashedKey) {
  const Table table = Hashed();
  const auto of = [&table](const char* value) { return ShardNumbers{table.Of(StrCat("{'a': ", value, "}"))}; };
  for (const char* value : {"1", "'user1'", "null", "{'b': 1}", "{'$oid': '507f1f77bcf86cd799439011'}", "true"}) {
    EXPECT_EQ(table.Route(StrCat("{'a': ", value, "}")), of(value)) << value;
    EXPECT_EQ(table.Route(StrCat("{'a': ", value, ", 'b': {'$gt': 5}}")), of(value)) << value;
    EXPECT_EQ(table.Route(StrCat("{'a': {'$in': [", value, "]}}")), of(value)) << value;
  }
  ShardNumbers both = of("'x'");
  sharding::AddShard(of("'y'").front(), &both);
  EXPECT_EQ(table.Route("{'a': {'$in': ['x', 'y']}}"), both);
  EXPECT_EQ(table.Route("{'$or': [{'a': 'x'}, {'a': 'y', 'b': 1}]}"), both);
  // An equal number may have been hashed as 3 or, if it is a decimal, as 4.
  ShardNumbers numbers = of("3");
  sharding::AddShard(of("4").front(), &numbers);
  EXPECT_EQ(table.Route("{'a': 3.5}"), numbers);
  for (const char* filter : {"{}", "{'a': {'$gt': 5}}", "{'a': {'$gte': 'x', '$lte': 'x'}}",
                             "{'a': {'$regex': '^user1$'}}", "{'a': {'$not': {'$eq': 5}}}", "{'a': {'$ne': 5}}",
                             "{'a': {'$exists': true}}", "{'a.b': 5}", "{'a': {'$elemMatch': {'$eq': 5}}}",
                             "{'a': {'$in': ['x', {'$regularExpression': {'pattern': 'y', 'options': ''}}]}}",
                             "{'a': {'b': 3.5}}", "{'$or': [{'a': 1}, {'b': 2}]}", "{'$nor': [{'a': 1}]}"}) {
    EXPECT_EQ(table.Route(filter), kSixteen) << filter;
  }
}

TEST(RoutingTest, CompoundKeysAreNarrowedByAPrefix) {
  Table table("{'a': 1, 'b': 1}");
  for (const char* bound : {"{'a': 10, 'b': 0}", "{'a': 10, 'b': 10}", "{'a': 20}", "{'a': 20, 'b': 'm'}"}) {
    table.Split(bound);
  }
  table.Number();
  const std::pair<const char*, ShardNumbers> cases[] = {
      {"{'a': 10, 'b': 5}", {1}},
      {"{'a': 10, 'b': {'$lt': 0}}", {0}},
      {"{'a': 10, 'b': {'$gte': 5, '$lte': 15}}", {1, 2}},
      {"{'a': 10}", {0, 1, 2}},
      {"{'a': {'$in': [10, 20]}, 'b': 12}", {2, 3}},
      {"{'a': {'$in': [5, 20]}, 'b': {'$in': ['a', 'z']}}", {0, 3, 4}},
      {"{'a': {'$gt': 10, '$lt': 20}}", {2}},
      {"{'a': 20, 'b': null}", {3}},
      {"{'a': 20, 'b': {'$not': {'$lt': 'm'}}}", {3, 4}},
      {"{'b': 5}", kFive},
  };
  for (const auto& [filter, shards] : cases) EXPECT_EQ(table.Route(filter), shards) << filter;
}

TEST(RoutingTest, CompoundKeysWithAHashedField) {
  const Table first = Hashed("{'a': 'hashed', 'b': 1}");
  EXPECT_EQ(first.Route("{'a': 'x'}"), ShardNumbers{first.Of("{'a': 'x'}")});
  EXPECT_EQ(first.Route("{'a': 'x', 'b': {'$gt': 3}}"), ShardNumbers{first.Of("{'a': 'x', 'b': 4}")});
  EXPECT_EQ(first.Route("{'b': 3}"), kSixteen);

  Table second("{'a': 1, 'b': 'hashed'}");
  second.Split("{'a': 10}");
  second.Split(bson::Make("a", 10, "b", int64_t{0}).view());
  second.Split("{'a': 20}");
  second.Number();
  EXPECT_EQ(second.Route("{'a': 10}"), (ShardNumbers{1, 2}));
  EXPECT_EQ(second.Route("{'a': 10, 'b': 'abc'}"), ShardNumbers{2});  // its hash is positive
  EXPECT_EQ(second.Route("{'a': 10, 'b': 42}"), ShardNumbers{1});     // and this one's is not
  EXPECT_EQ(second.Route("{'a': {'$lt': 10}, 'b': 42}"), ShardNumbers{0});
  EXPECT_EQ(second.Route("{'a': 10, 'b': {'$gt': 5}}"), (ShardNumbers{1, 2}));
}

TEST(RoutingTest, ACollationLeavesOnlyWhatItDoesNotTouch) {
  const Table ranged = Ranged();
  EXPECT_EQ(ranged.Route("{'a': 'text'}", English()), kFive);
  EXPECT_EQ(ranged.Route("{'a': {'$in': ['text', 5]}}", English()), kFive);
  EXPECT_EQ(ranged.Route("{'a': 15}", English()), ShardNumbers{1});
  const Table hashed = Hashed();
  EXPECT_EQ(hashed.Route("{'a': 'text'}", English()), kSixteen);
  EXPECT_EQ(hashed.Route("{'a': {'b': 'text'}}", English()), kSixteen);
  EXPECT_EQ(hashed.Route("{'a': 15}", English()).size(), 1u);
}

TEST(RoutingTest, AMovingChunkIsOnBothShards) {
  Table table = Ranged();
  table.placement().chunks[1].from = 4;
  EXPECT_EQ(table.Route("{'a': 15}"), (ShardNumbers{1, 4}));
  EXPECT_EQ(table.Route("{'a': 25}"), ShardNumbers{2});
}

TEST(RoutingTest, UnshardedAndPreparedCollectionsAreOnTheirOneShard) {
  catalog::Collection collection;
  collection.placement = std::make_shared<Placement>(Placement::OnOneShard(3));
  const Filter everything;
  EXPECT_EQ(RouteFilter(collection, everything, nullptr), ShardNumbers{3});
  Table table("{'a': 1}");
  table.placement().preparing = true;
  table.placement().chunks[0].shard = 2;
  EXPECT_EQ(table.Route("{'a': 1}"), ShardNumbers{2});
}

// Few values of many kinds, so that documents and filters meet.
constexpr const char* kValues[] = {"0",
                                   "1",
                                   "2",
                                   "3",
                                   "3.5",
                                   "{'$numberDecimal': '3.5'}",
                                   "{'$numberDecimal': '2'}",
                                   "-1",
                                   "'a'",
                                   "'A'",
                                   "'ab'",
                                   "''",
                                   "null",
                                   "true",
                                   "{'$date': 5}",
                                   "{'x': 1}",
                                   "{'x': {'$numberDecimal': '1.5'}}",
                                   "{'x': 1.5}",
                                   "{'$minKey': 1}",
                                   "{'$maxKey': 1}",
                                   "{'$numberDouble': 'NaN'}",
                                   "{'$numberDouble': '9223372036854775808'}",
                                   "{'$numberDecimal': '9223372036854775808'}"};
constexpr const char* kPatterns[] = {"{'a': 1}",
                                     "{'a': 'hashed'}",
                                     "{'a': 1, 'b': 1}",
                                     "{'a': 'hashed', 'b': 1}",
                                     "{'a': 1, 'b': 'hashed'}",
                                     "{'a': 1, 'b': 1, 'c': 1}",
                                     "{'d.x': 1}",
                                     "{'d.x': 'hashed', 'a': 1}"};

class DocumentGenerator {
 public:
  explicit DocumentGenerator(uint64_t seed) : random_(seed) {}
  Random& random() { return random_; }
  const char* Value() { return kValues[random_.Below(std::size(kValues))]; }
  std::string Document() {
    std::string text = "{'_id': 1";
    for (const char* name : {"a", "b", "c"}) {
      if (random_.Chance(5, 6)) text += StrCat(", '", name, "': ", Value());
    }
    if (random_.Chance(2, 3)) text += StrCat(", 'd': {'x': ", Value(), "}");
    return text + "}";
  }
  std::string Condition() {
    constexpr const char* kCompare[] = {"$gt", "$gte", "$lt", "$lte", "$eq", "$ne"};
    switch (random_.Below(11)) {
      case 0:
      case 1: return Value();
      case 2: return StrCat("{'$in': [", Value(), ", ", Value(), ", ", Value(), "]}");
      case 3: return StrCat("{'$gte': ", Value(), ", '$lte': ", Value(), "}");
      case 4: return StrCat("{'$not': {'$gte': ", Value(), "}}");
      case 5: return StrCat("{'$exists': ", random_.Chance(1, 2) ? "true}" : "false}");
      case 6: return "{'$regex': '^a'}";
      case 7: return StrCat("{'$nin': [", Value(), ", null]}");
      default: return StrCat("{'", kCompare[random_.Below(std::size(kCompare))], "': ", Value(), "}");
    }
  }
  std::string Simple() {
    constexpr const char* kPaths[] = {"a", "a", "b", "c", "d.x", "d.x"};
    return StrCat("'", kPaths[random_.Below(std::size(kPaths))], "': ", Condition());
  }
  std::string Filter(int depth = 2) {
    if (depth == 0 || random_.Chance(1, 2)) return StrCat("{", Simple(), "}");
    const char* op = random_.Chance(1, 2) ? "$and" : random_.Chance(4, 5) ? "$or" : "$nor";
    std::string text = StrCat("{'", op, "': [", Filter(depth - 1), ", ", Filter(depth - 1), "]");
    if (random_.Chance(1, 2)) text += StrCat(", ", Simple());
    return text + "}";
  }

 private:
  Random random_;
};

/// Chunks that begin at keys of random documents, on random shards, some of them on their way.
Table RandomTable(DocumentGenerator& generator) {
  Random& random = generator.random();
  Table table(kPatterns[random.Below(std::size(kPatterns))]);
  Placement& placement = table.placement();
  const uint64_t splits = random.Below(12);
  for (uint64_t i = 0; i < splits; ++i) {
    const bson::Document values = placement.key.ValuesOf(bson::J(generator.Document())).value();
    if (bson::ToShell(values) != bson::ToShell(placement.key.Highest())) EXPECT_OK(placement.Split(values));
  }
  for (sharding::Chunk& chunk : placement.chunks) {
    chunk.shard = static_cast<storage::ShardNumber>(random.Below(8));
    if (random.Chance(1, 8)) chunk.from = static_cast<storage::ShardNumber>(8 + random.Below(2));
  }
  return table;
}

// What a filter matches is on the shards that are asked, whatever the key, the chunks and the filter.
TEST(RoutingTest, EveryMatchingDocumentIsOnTheRoute) {
  DocumentGenerator generator(test::Seed());
  int matched = 0;
  int narrowed = 0;
  for (int round = 0; round < 150; ++round) {
    const Table table = RandomTable(generator);
    const Placement& placement = *table.collection().placement;
    std::vector<bson::Document> documents;
    for (int i = 0; i < 40; ++i) documents.push_back(bson::J(generator.Document()));
    for (int i = 0; i < 40; ++i) {
      const std::string text = generator.Filter();
      auto environment = std::make_shared<Environment>();
      if (generator.random().Chance(1, 6)) environment->collation = English();
      const auto filter = Filter::Parse(bson::J(text), environment);
      ASSERT_OK(filter);
      const ShardNumbers route = RouteFilter(table.collection(), *filter, environment->collation.get());
      ASSERT_FALSE(route.empty());
      ASSERT_TRUE(std::ranges::is_sorted(route));
      ASSERT_TRUE(std::ranges::includes(placement.Shards(), route));
      if (route.size() < placement.Shards().size()) ++narrowed;
      for (const bson::Document& document : documents) {
        if (!filter->Matches(document).value()) continue;
        ++matched;
        const sharding::Chunk& chunk = placement.ChunkOf(placement.key.KeyOf(document).value());
        ASSERT_TRUE(std::ranges::binary_search(route, chunk.shard) &&
                    (!chunk.from || std::ranges::binary_search(route, *chunk.from)))
            << text << " matches " << bson::ToShell(document) << " on shard " << chunk.shard << " of "
            << bson::ToShell(ToBson(placement)) << (environment->collation != nullptr ? " with a collation" : "");
      }
    }
  }
  EXPECT_GT(matched, 10'000);
  EXPECT_GT(narrowed, 1'000);
}

}  // namespace
}  // namespace braid::query::plan
