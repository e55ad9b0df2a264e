#include "engine/sharding/placement.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"

namespace braid::sharding {
namespace {

/// One chunk on shard 0.
Placement Whole(std::string_view pattern, ShardNumbers shards = {0}, uint32_t chunks = 0) {
  Placement placement;
  auto key = ShardKey::Parse(bson::J(pattern));
  EXPECT_OK(key);
  placement.key = *key;
  EXPECT_OK(SplitInitially(shards, shards.front(), chunks, &placement));
  return placement;
}

std::string KeyOf(const Placement& placement, std::string_view document) {
  return placement.key.KeyOf(bson::J(document)).value();
}

std::vector<int64_t> Points(const Placement& placement) {
  std::vector<int64_t> points;
  for (size_t i = 1; i < placement.chunks.size(); ++i) {
    points.push_back(placement.chunks[i].min.view().begin()->value.AsInt64());
  }
  return points;
}

ShardNumbers Dealt(const Placement& placement) {
  ShardNumbers shards;
  for (const Chunk& chunk : placement.chunks) shards.push_back(chunk.shard);
  return shards;
}

TEST(PlacementTest, OnOneShardHasEverythingThere) {
  const Placement placement = Placement::OnOneShard(3);
  EXPECT_FALSE(placement.sharded());
  EXPECT_FALSE(placement.keeps_global_keys());
  EXPECT_EQ(placement.Shards(), ShardNumbers{3});
  EXPECT_EQ(placement.ChunkOf("").shard, 3);
  EXPECT_EQ(placement.EndOf(0), "");
}

TEST(PlacementTest, SplitCutsTheChunkThatHoldsTheBound) {
  Placement placement = Whole("{'a': 1}");
  ASSERT_OK(placement.Split(bson::J("{'a': 10}")));
  ASSERT_OK(placement.Split(bson::J("{'a': 5}")));
  ASSERT_OK(placement.Split(bson::J("{'a': 'x'}")));
  ASSERT_EQ(placement.chunks.size(), 4u);
  const std::pair<const char*, size_t> places[] = {{"{'a': {'$minKey': 1}}", 0},
                                                   {"{}", 0},
                                                   {"{'a': 4.99}", 0},
                                                   {"{'a': 5}", 1},
                                                   {"{'a': 9}", 1},
                                                   {"{'a': 10}", 2},
                                                   {"{'a': 'w'}", 2},
                                                   {"{'a': 'x'}", 3},
                                                   {"{'a': {'b': 1}}", 3},
                                                   {"{'a': {'$maxKey': 1}}", 3}};
  for (const auto& [document, chunk] : places)
    EXPECT_EQ(placement.IndexOf(KeyOf(placement, document)), chunk) << document;
  EXPECT_EQ(bson::ToShell(placement.MaxOf(0)), "{ a: 5 }");
  EXPECT_EQ(bson::ToShell(placement.MaxOf(3)), bson::ToShell(placement.key.Highest()));
  EXPECT_EQ(placement.EndOf(0), placement.chunks[1].begin);
}

TEST(PlacementTest, SplitWhereAChunkBeginsDoesNothing) {
  Placement placement = Whole("{'a': 1}");
  ASSERT_OK(placement.Split(bson::J("{'a': 5}")));
  const bson::Document before = ToBson(placement);
  ASSERT_OK(placement.Split(bson::J("{'a': 5.0}")));
  ASSERT_OK(placement.Split(bson::J("{'a': {'$minKey': 1}}")));
  EXPECT_EQ(bson::Compare(ToBson(placement), before), 0);
}

TEST(PlacementTest, SplitRefusesBoundsThatDoNotFit) {
  Placement placement = Whole("{'a': 1, 'b': 1}");
  const bson::Document before = ToBson(placement);
  for (const char* bound :
       {"{'a': 1}", "{'b': 1, 'a': 1}", "{'a': 1, 'b': 1, 'c': 1}", "{'a': {'$maxKey': 1}, 'b': {'$maxKey': 1}}"}) {
    EXPECT_EQ(placement.Split(bson::J(bound)).code(), Code::kBadValue) << bound;
  }
  EXPECT_EQ(bson::Compare(ToBson(placement), before), 0);
}

TEST(PlacementTest, SplitOfAMovingChunkMovesBothHalves) {
  Placement placement = Whole("{'a': 1}");
  placement.chunks[0].shard = 2;
  placement.chunks[0].from = 0;
  ASSERT_OK(placement.Split(bson::J("{'a': 5}")));
  for (const Chunk& chunk : placement.chunks) {
    EXPECT_EQ(chunk.shard, 2);
    EXPECT_EQ(chunk.from, ShardNumber{0});
  }
  EXPECT_NE(std::string(placement.chunks[0].id.bytes, 12), std::string(placement.chunks[1].id.bytes, 12));
}

TEST(PlacementTest, MergeJoinsNeighboursOfOneShard) {
  Placement placement = Whole("{'a': 1}");
  for (const char* bound : {"{'a': 1}", "{'a': 2}", "{'a': 3}", "{'a': 4}"}) ASSERT_OK(placement.Split(bson::J(bound)));
  const auto begin = [&](size_t i) { return placement.chunks[i].begin; };
  placement.chunks[4].shard = 1;
  const auto refused = [&](const std::string& from, const std::string& to) {
    return placement.Merge(from, to).code() == Code::kIllegalOperation;
  };
  EXPECT_TRUE(refused(begin(3), ""));                              // two shards
  EXPECT_TRUE(refused(begin(1), begin(2)));                        // one chunk
  EXPECT_TRUE(refused(KeyOf(placement, "{'a': 1.5}"), begin(3)));  // begins in a chunk
  EXPECT_TRUE(refused(begin(1), KeyOf(placement, "{'a': 3.5}")));  // ends in one
  placement.chunks[2].from = 1;
  EXPECT_TRUE(refused(begin(1), begin(3)));  // is moving
  placement.chunks[2].from.reset();
  ASSERT_EQ(placement.chunks.size(), 5u);
  ASSERT_OK(placement.Merge(begin(1), begin(3)));
  ASSERT_EQ(placement.chunks.size(), 4u);
  EXPECT_EQ(bson::ToShell(placement.chunks[1].min), "{ a: 1 }");
  EXPECT_EQ(bson::ToShell(placement.MaxOf(1)), "{ a: 3 }");
  placement.chunks[3].shard = 0;
  ASSERT_OK(placement.Merge(begin(0), ""));
  ASSERT_EQ(placement.chunks.size(), 1u);
  EXPECT_EQ(bson::Compare(placement.MaxOf(0), placement.key.Highest()), 0);
}

TEST(PlacementTest, AddShardsOfARangeAreThoseOfItsChunks) {
  Placement placement = Whole("{'a': 1}");
  for (int i = 1; i < 6; ++i) ASSERT_OK(placement.Split(bson::Make("a", i * 10)));
  for (size_t i = 0; i < 6; ++i) placement.chunks[i].shard = static_cast<ShardNumber>(i);
  placement.chunks[3].from = 9;
  const auto shards = [&](std::string_view begin, std::string_view end) {
    ShardNumbers found;
    placement.AddShardsOf(begin.empty() ? "" : KeyOf(placement, StrCat("{'a': ", begin, "}")),
                          end.empty() ? "" : KeyOf(placement, StrCat("{'a': ", end, "}")), &found);
    return found;
  };
  EXPECT_EQ(shards("10", "20"), ShardNumbers{1});  // the end is not part of it
  EXPECT_EQ(shards("10", "20.5"), (ShardNumbers{1, 2}));
  EXPECT_EQ(shards("9", "11"), (ShardNumbers{0, 1}));
  EXPECT_EQ(shards("35", "35.5"), (ShardNumbers{3, 9}));  // it moves: both
  EXPECT_EQ(shards("45", ""), (ShardNumbers{4, 5}));
  EXPECT_EQ(shards("", "5"), ShardNumbers{0});
  EXPECT_EQ(shards("", ""), (ShardNumbers{0, 1, 2, 3, 4, 5, 9}));
  EXPECT_EQ(placement.Shards(), (ShardNumbers{0, 1, 2, 3, 4, 5, 9}));
}

TEST(PlacementTest, AddShardKeepsThemSortedAndOnce) {
  ShardNumbers shards;
  for (const ShardNumber shard : {3, 1, 2, 3, 1}) AddShard(shard, &shards);
  EXPECT_EQ(shards, (ShardNumbers{1, 2, 3}));
}

TEST(PlacementTest, TheStoredFormIsReadBack) {
  Placement placement = Whole("{'a': 'hashed', 'b': 1}", {0, 4, 7});
  placement.unique = true;
  placement.no_balance = true;
  placement.epoch = bson::ObjectId::Generate();
  placement.timestamp = 77;
  placement.chunks[2].from = 5;
  placement.chunks[1].major = std::numeric_limits<uint32_t>::max();
  placement.chunks[1].since = uint64_t{1'700'000'000} << 32 | 3;
  const auto read = ParsePlacement(ToBson(placement));
  ASSERT_OK(read);
  EXPECT_EQ(ToBson(*read).bytes(), ToBson(placement).bytes());
  ASSERT_EQ(read->chunks.size(), placement.chunks.size());
  for (size_t i = 0; i < read->chunks.size(); ++i) {
    EXPECT_EQ(read->chunks[i].begin, placement.chunks[i].begin);
    EXPECT_EQ(read->chunks[i].from, placement.chunks[i].from);
    EXPECT_EQ(read->chunks[i].major, placement.chunks[i].major);
  }
  EXPECT_TRUE(read->unique && read->no_balance && read->is_moving());

  const auto unsharded = ParsePlacement(ToBson(Placement::OnOneShard(2)));
  ASSERT_OK(unsharded);
  EXPECT_FALSE(unsharded->sharded());
  EXPECT_EQ(unsharded->Shards(), ShardNumbers{2});
}

TEST(PlacementTest, DamageIsNoticed) {
  const Placement placement = Whole("{'a': 'hashed'}", {0, 1});
  for (const char* lost : {"key", "unique", "noBalance", "preparing", "timestamp", "chunks"}) {
    bson::Builder rest;
    const bson::Document stored = ToBson(placement);
    for (const bson::Element& field : stored.view()) {
      if (field.name != lost) rest.Append(field.name, field.value);
    }
    const auto read = ParsePlacement(rest.Finish());
    ASSERT_FALSE(read.ok()) << lost;
    EXPECT_EQ(read.error().code(), Code::kStorageCorrupt) << lost;
  }
}

// What the rest of the engine asserts of every placement is never taken from the disk unseen.
TEST(PlacementTest, ATableOfChunksThatIsNotWholeIsDamage) {
  const Placement whole = Whole("{'a': 'hashed'}", {0, 1});
  ASSERT_TRUE(whole.IsWhole());
  const auto expect_damage = [](const Placement& placement) {
    EXPECT_FALSE(placement.IsWhole());
    EXPECT_EQ(ParsePlacement(ToBson(placement)).status().code(), Code::kStorageCorrupt);
  };
  Placement without_begin = whole;
  without_begin.chunks.erase(without_begin.chunks.begin());
  expect_damage(without_begin);
  Placement out_of_order = whole;
  std::swap(out_of_order.chunks[1], out_of_order.chunks[2]);
  expect_damage(out_of_order);
  Placement comes_from_itself = whole;
  comes_from_itself.chunks[1].from = comes_from_itself.chunks[1].shard;
  expect_damage(comes_from_itself);
  Placement empty = whole;
  empty.chunks.clear();
  expect_damage(empty);
  Placement on_no_shard = whole;
  on_no_shard.chunks[0].shard = storage::kNoShard;
  EXPECT_EQ(ParsePlacement(ToBson(on_no_shard)).status().code(), Code::kStorageCorrupt);
}

// Every change of a chunk gives it a version that is higher than all there were.
TEST(PlacementTest, VersionsGrow) {
  Random random(test::Seed());
  Placement placement = Whole("{'a': 1}");
  std::pair<uint32_t, uint32_t> highest{1, 0};
  const auto top = [&placement] {
    std::pair<uint32_t, uint32_t> version{0, 0};
    for (const Chunk& chunk : placement.chunks) version = std::max(version, {chunk.major, chunk.minor});
    return version;
  };
  for (int i = 0; i < 300; ++i) {
    const size_t at = random.Below(placement.chunks.size());
    const size_t before = placement.chunks.size();
    bool changed = true;
    if (random.Chance(1, 3)) {
      placement.Bump(&placement.chunks[at], true);
      EXPECT_EQ(placement.chunks[at].minor, 0u);
    } else if (random.Chance(1, 2) && before > 1) {
      const size_t first = std::min(at, before - 2);
      ASSERT_OK(placement.Merge(std::string(placement.chunks[first].begin), std::string(placement.EndOf(first + 1))));
    } else {
      ASSERT_OK(placement.Split(bson::Make("a", static_cast<int32_t>(random.Below(1000)))));
      changed = placement.chunks.size() > before;
    }
    EXPECT_TRUE(!changed || top() > highest);
    highest = top();
    std::set<std::pair<uint32_t, uint32_t>> versions;
    for (const Chunk& chunk : placement.chunks) versions.insert({chunk.major, chunk.minor});
    ASSERT_EQ(versions.size(), placement.chunks.size());
    ASSERT_TRUE(std::ranges::is_sorted(placement.chunks, {}, &Chunk::begin));
  }
}

// The points of MongoDB itself.
TEST(SplitInitiallyTest, PointsAreMongoDbs) {
  const int64_t third = 3074457345618258602;
  EXPECT_EQ(Points(Whole("{'a': 'hashed'}", {0}, 2)), (std::vector<int64_t>{0}));
  EXPECT_EQ(Points(Whole("{'a': 'hashed'}", {0}, 3)), (std::vector<int64_t>{-third, third}));
  EXPECT_EQ(Points(Whole("{'a': 'hashed'}", {0}, 4)),
            (std::vector<int64_t>{-4611686018427387902, 0, 4611686018427387902}));
  EXPECT_EQ(Points(Whole("{'a': 'hashed'}", {0}, 6)), (std::vector<int64_t>{-2 * third, -third, 0, third, 2 * third}));
  EXPECT_EQ(Points(Whole("{'a': 'hashed'}", {0}, 1)), std::vector<int64_t>{});
}

TEST(SplitInitiallyTest, AnyNumberOfChunksAreOfEqualWidth) {
  for (uint32_t n = 2; n <= 65; ++n) {
    const std::vector<int64_t> points = Points(Whole("{'a': 'hashed'}", {0}, n));
    ASSERT_EQ(points.size(), n - 1);
    const double width = 18446744073709551616.0 / n;
    double last = -9223372036854775808.0;
    for (const int64_t point : points) {
      EXPECT_NEAR(static_cast<double>(point) - last, width, width * 1e-6) << n;
      last = static_cast<double>(point);
    }
    EXPECT_NEAR(9223372036854775808.0 - last, width, width * 1e-6) << n;
  }
}

TEST(SplitInitiallyTest, ChunksAreDealtToTheShardsInOrder) {
  EXPECT_EQ(Dealt(Whole("{'a': 'hashed'}", {0, 1, 2})), (ShardNumbers{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(Dealt(Whole("{'a': 'hashed'}", {2, 5}, 6)), (ShardNumbers{2, 2, 2, 5, 5, 5}));
  EXPECT_EQ(Dealt(Whole("{'a': 'hashed'}", {0, 1}, 5)), (ShardNumbers{0, 0, 1, 1, 0}));
  EXPECT_EQ(Dealt(Whole("{'a': 'hashed'}", {0, 1, 2}, 2)), (ShardNumbers{0, 1}));
  const Placement compound = Whole("{'a': 'hashed', 'b': 1}", {0, 1});
  ASSERT_EQ(compound.chunks.size(), 4u);
  EXPECT_EQ(compound.chunks[2].min.Find("b").type(), bson::Type::kMinKey);
}

TEST(SplitInitiallyTest, RangedKeysGetOneChunkOnThePrimaryShard) {
  Placement placement = Whole("{'a': 1, 'b': 'hashed'}", {0, 1, 2});
  EXPECT_EQ(Dealt(placement), ShardNumbers{0});
  ASSERT_OK(SplitInitially({0, 1, 2}, 2, 0, &placement));
  EXPECT_EQ(Dealt(placement), ShardNumbers{2});
  EXPECT_EQ(SplitInitially({0, 1, 2}, 2, 4, &placement).code(), Code::kInvalidOptions);
}

TEST(SplitInitiallyTest, TooManyChunksAreRefused) {
  Placement placement = Whole("{'a': 'hashed'}", {0, 1});
  EXPECT_EQ(SplitInitially({0}, 0, 8193, &placement).code(), Code::kInvalidOptions);
  ASSERT_OK(SplitInitially({0}, 0, 8192, &placement));
  EXPECT_EQ(placement.chunks.size(), 8192u);
}

}  // namespace
}  // namespace braid::sharding
