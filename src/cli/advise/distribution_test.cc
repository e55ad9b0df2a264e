#include "cli/advise/distribution.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

using bson::J;
using bson::Make;

template <typename MakeDocument>
Sample SampleOf(int n, MakeDocument make) {
  Sample sample;
  for (int i = 0; i < n; ++i) sample.documents.push_back(make(i));
  sample.total = static_cast<uint64_t>(n);
  sample.in_order = true;
  return sample;
}

Distribution Of(const Sample& sample, std::string_view key, size_t shards = 4) {
  const auto order = FindInsertionOrder(sample);
  return Distribute(sample, order ? &*order : nullptr, *ShardKey::Parse(J(key)), shards);
}

int Scrambled(int i) { return static_cast<int>(static_cast<uint32_t>(i) * 2654435761U >> 8); }

TEST(DistinctTest, ManyValuesAreGoodFewAreNot) {
  const Sample sample = SampleOf(4000, [](int i) { return Make("many", i, "zone", i % 6, "one", 1); });
  EXPECT_EQ(Of(sample, "{'many': 1}").distinct.score, 1);
  EXPECT_EQ(Of(sample, "{'many': 1}").distinct.values, 4000);
  EXPECT_LT(Of(sample, "{'zone': 1}").distinct.score, 0.02);
  EXPECT_LT(Of(sample, "{'one': 'hashed'}").distinct.score, 0.001);
  EXPECT_EQ(Of(sample, "{'zone': 1, 'many': 1}").distinct.score, 1);
}

TEST(DistinctTest, NullAndMissingAreOneValue) {
  const Sample sample = SampleOf(1000, [](int i) {
    if (i % 10 == 0) return Make("x", i);
    if (i % 10 < 4) return Make("user", bson::Null{});
    return Make("user", StrCat("U", i));
  });
  const Distinct distinct = Of(sample, "{'user': 'hashed'}").distinct;
  EXPECT_TRUE(distinct.top_is_null);
  EXPECT_DOUBLE_EQ(distinct.top_share, 0.4);
  EXPECT_EQ(bson::ToShell(distinct.top_value), "{ user: null }");
  EXPECT_EQ(distinct.values, 601);
  EXPECT_NEAR(distinct.score, 1 / (1 + 0.399 * 3), 1e-9);
}

TEST(DistinctTest, OfASampleTheRestIsEstimated) {
  Sample sample = SampleOf(1000, [](int i) { return Make("id", i, "user", i < 600 ? i : i % 100, "zone", i % 7); });
  sample.total = 100'000;
  EXPECT_FALSE(Of(sample, "{'id': 1}").distinct.exact);
  EXPECT_EQ(Of(sample, "{'id': 1}").distinct.values, 100'000);           // no two alike
  EXPECT_EQ(Of(sample, "{'user': 1}").distinct.values, 500 * 10 + 100);  // sqrt(100) for each that was seen once
  EXPECT_EQ(Of(sample, "{'zone': 1}").distinct.values, 7);               // all of them seen again
}

TEST(EvennessTest, HashedIsEvenAndAHeavyValueIsNot) {
  const Sample sample = SampleOf(10'000, [](int i) { return Make("u", i, "g", i % 3 == 0 ? -1 : i); });
  const Evenness even = Of(sample, "{'u': 'hashed'}").evenness;
  EXPECT_LT(even.max_over_mean, 1.1);
  EXPECT_EQ(even.score, 1);
  EXPECT_FALSE(even.growth.has_value());
  const Evenness heavy = Of(sample, "{'g': 'hashed'}").evenness;
  EXPECT_GT(heavy.max_over_mean, 1.8);
  EXPECT_LT(heavy.score, 0.62);
}

TEST(EvennessTest, TheLuckOfFewHundredHashesIsForgivenThatOfADozenIsNot) {
  const Sample sample =
      SampleOf(3000, [](int i) { return Make("u", i % 300, "zone", i % 12, "null", i % 3 == 0 ? -1 : i % 300); });
  EXPECT_GT(Of(sample, "{'u': 'hashed'}").evenness.max_over_mean, 1.1);
  EXPECT_EQ(Of(sample, "{'u': 'hashed'}").evenness.score, 1);
  const Evenness zone = Of(sample, "{'zone': 'hashed'}").evenness;
  EXPECT_NEAR(zone.score, 1.1 / zone.max_over_mean, 1e-9);
  EXPECT_LT(Of(sample, "{'null': 'hashed'}").evenness.score, 0.8);
}

TEST(EvennessTest, AGrowingKeyIsHotAtItsEnd) {
  const Sample sample = SampleOf(2000, [](int i) {
    return Make("up", bson::Date{1'000'000 + i * 1000LL}, "down", -i, "any", Scrambled(i), "near",
                i + Scrambled(i) % 50, "zone", i % 5);
  });
  const Evenness up = Of(sample, "{'up': 1}").evenness;
  EXPECT_TRUE(up.growth->monotonic);
  EXPECT_DOUBLE_EQ(up.growth->correlation, 1);
  EXPECT_DOUBLE_EQ(up.growth->newest_share, 1);
  EXPECT_DOUBLE_EQ(up.max_over_mean, 4);
  EXPECT_NEAR(up.score, 1.1 / 4, 1e-9);
  EXPECT_TRUE(Of(sample, "{'down': 1}").evenness.growth->monotonic);
  EXPECT_DOUBLE_EQ(Of(sample, "{'down': 1}").evenness.growth->correlation, -1);
  EXPECT_TRUE(Of(sample, "{'near': 1}").evenness.growth->monotonic) << "a little disorder is no help";
  const Evenness any = Of(sample, "{'any': 1}").evenness;
  EXPECT_FALSE(any.growth->monotonic);
  EXPECT_LT(std::abs(any.growth->correlation), 0.1);
  EXPECT_EQ(any.score, 1);
  EXPECT_EQ(Of(sample, "{'up': 'hashed'}").evenness.score, 1);
  const Evenness zones = Of(sample, "{'zone': 1, 'up': 1}").evenness;
  EXPECT_FALSE(zones.growth->monotonic);
  EXPECT_LT(zones.max_over_mean, 2);
}

TEST(EvennessTest, QuantilesKeepEqualKeysTogether) {
  const Sample sample = SampleOf(100, [](int i) { return Make("zone", i < 70 ? 0 : i % 3 + 1); });
  EXPECT_EQ(Of(sample, "{'zone': 1}").evenness.per_shard[0] + Of(sample, "{'zone': 1}").evenness.per_shard[1] +
                Of(sample, "{'zone': 1}").evenness.per_shard[2],
            70u);
  EXPECT_GE(Of(sample, "{'zone': 1}").evenness.max_over_mean, 2.8);
}

TEST(EvennessTest, ArraysCannotBeKeys) {
  const Sample sample = SampleOf(10, [](int i) { return i % 2 == 0 ? J("{'t': [1, 2]}") : J("{'t': 1}"); });
  EXPECT_EQ(Of(sample, "{'t': 'hashed'}").with_array, 5u);
  const Sample all = SampleOf(3, [](int) { return J("{'t': [1]}"); });
  EXPECT_EQ(Of(all, "{'t': 1}").with_array, 3u);
  EXPECT_EQ(Of(all, "{'t': 1}").distinct.score, 0);
}

TEST(InsertionOrderTest, ByObjectIdThenFileThenDate) {
  const auto oid = [](int second) {
    bson::ObjectId id{};
    id.bytes[3] = static_cast<char>(second);
    return id;
  };
  Sample sample = SampleOf(3, [&](int i) { return Make("_id", oid(9 - i)); });
  EXPECT_EQ(FindInsertionOrder(sample)->by, "_id");
  EXPECT_EQ(FindInsertionOrder(sample)->oldest_first, (std::vector<size_t>{2, 1, 0}));
  sample = SampleOf(3, [&](int i) { return Make("_id", i, "at", bson::Date{-i}); });
  EXPECT_EQ(FindInsertionOrder(sample)->by, "file");
  sample.in_order = false;
  EXPECT_EQ(FindInsertionOrder(sample)->by, "at");
  EXPECT_EQ(FindInsertionOrder(sample)->oldest_first, (std::vector<size_t>{2, 1, 0}));
  sample.documents.push_back(Make("_id", 7));
  EXPECT_FALSE(FindInsertionOrder(sample).has_value());
}

TEST(PlacementTest, HashesAreSplitEvenly) {
  for (const size_t shards : {2, 3, 4, 7}) {
    std::vector<std::string> keys;
    for (int i = 0; i < 20'000; ++i)
      keys.push_back(ShardKey::Parse(J("{'a': 'hashed'}"))->Encode({Make("a", i).Find("a")}));
    EXPECT_LT(MaxOverMean(Placement::OfHashes(shards).Count(keys)), 1.06) << shards;
  }
  EXPECT_EQ(MaxOverMean({}), 1);
  EXPECT_EQ(MaxOverMean({4, 0, 0, 0}), 4);
}

}  // namespace
}  // namespace braid::advise
