// The sampler: how many it lets in, what it keeps, when it stops.
#include "engine/commands/query_sampler.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"

namespace braid::commands {
namespace {

using std::chrono::milliseconds;

class QuerySamplerTest : public ::testing::Test {
 protected:
  static catalog::Collection Make(const std::string& name, char uuid) {
    catalog::Collection collection;
    collection.ns = {"db", name};
    collection.uuid = std::string(16, uuid);
    collection.state = std::make_shared<catalog::CollectionState>();
    return collection;
  }
  void Record(double rate = 10) { sampler_.Configure(collection_, {.full = true, .samples_per_second = rate}); }
  void Add(int n, const std::string& filler = "") {
    sampler_.Add(collection_, "find", bson::Make("filter", bson::Make("n", n), "x", filler));
  }
  std::string Listed() const {
    std::string all;
    for (const bson::Document& row : sampler_.List("")) {
      all += StrCat(bson::Number::Of(row.Find("cmd").AsView().Find("filter").AsView().Find("n")).ToInt64Clamped(), " ");
    }
    return all;
  }

  ManualClock clock_;
  QuerySampler sampler_{clock_};
  catalog::Collection collection_ = Make("c", 'a');
};

TEST_F(QuerySamplerTest, IsInactiveUntilACollectionIsRecorded) {
  EXPECT_FALSE(sampler_.active());
  EXPECT_EQ(sampler_.Take(collection_, 5), 0u);
  EXPECT_EQ(sampler_.Configure(collection_, {}), std::nullopt);
  EXPECT_EQ(sampler_.Configure(collection_, {.full = true, .samples_per_second = 3}), std::nullopt);
  EXPECT_TRUE(sampler_.active());
  const auto before = sampler_.Configure(collection_, {});
  ASSERT_TRUE(before.has_value());
  EXPECT_TRUE(before->full);
  EXPECT_EQ(before->samples_per_second, 3);
  EXPECT_FALSE(sampler_.active());
  EXPECT_EQ(sampler_.Configure(collection_, {}), std::nullopt);
}

TEST_F(QuerySamplerTest, LetsInSoManyASecond) {
  Record(10);
  EXPECT_EQ(sampler_.Take(collection_, 4), 4u);
  EXPECT_EQ(sampler_.Take(collection_, 100), 6u);
  EXPECT_EQ(sampler_.Take(collection_, 1), 0u);
  clock_.Advance(milliseconds(350));
  EXPECT_EQ(sampler_.Take(collection_, 100), 3u);
  clock_.Advance(milliseconds(60));  // the half from before counts
  EXPECT_EQ(sampler_.Take(collection_, 100), 1u);
  clock_.Advance(milliseconds(60'000));
  EXPECT_EQ(sampler_.Take(collection_, 100), 10u);
  EXPECT_EQ(sampler_.Take(Make("d", 'b'), 1), 0u);
}

TEST_F(QuerySamplerTest, LetsInOneAlsoAtALowRate) {
  Record(0.5);
  EXPECT_EQ(sampler_.Take(collection_, 3), 1u);
  clock_.Advance(milliseconds(1900));
  EXPECT_EQ(sampler_.Take(collection_, 1), 0u);
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(sampler_.Take(collection_, 1), 1u);
}

TEST_F(QuerySamplerTest, KeepsTheNewest) {
  Record();
  constexpr int kMore = 5;
  for (int i = 0; i < static_cast<int>(QuerySampler::kSamplesMax) + kMore; ++i) Add(i);
  const auto rows = sampler_.List("db.c");
  ASSERT_EQ(rows.size(), QuerySampler::kSamplesMax);
  EXPECT_TRUE(Listed().starts_with("5 6 7 "));
}

TEST_F(QuerySamplerTest, KeepsNoMoreThanSoManyBytes) {
  Record();
  const std::string large(QuerySampler::kSampleBytesMax - 200, 'x');
  for (int i = 0; i < 20; ++i) Add(i, large);
  EXPECT_EQ(Listed(), "4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
  Add(20, std::string(QuerySampler::kSampleBytesMax, 'x'));  // too large itself
  EXPECT_TRUE(Listed().ends_with("18 19 "));
}

TEST_F(QuerySamplerTest, SamplesOutliveTheRecordingButNotAWeek) {
  Record();
  Add(1);
  clock_.Advance(QuerySampler::kKept - milliseconds(1));
  Add(2);
  sampler_.Configure(collection_, {});
  sampler_.Sweep();
  EXPECT_EQ(Listed(), "1 2 ");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Listed(), "2 ");
  sampler_.Sweep();
  EXPECT_EQ(Listed(), "2 ");
  EXPECT_TRUE(sampler_.List("db.other").empty());
}

TEST_F(QuerySamplerTest, StopsWhenTheCollectionIsRenamedOrDropped) {
  Record();
  catalog::Collection renamed = collection_;
  renamed.ns.collection = "r";
  EXPECT_EQ(sampler_.Take(renamed, 1), 0u);
  EXPECT_FALSE(sampler_.active());
  EXPECT_EQ(sampler_.Configure(renamed, {.full = true, .samples_per_second = 1}), std::nullopt);
  EXPECT_TRUE(sampler_.active());
  renamed.state->dropped = true;
  sampler_.Sweep();
  EXPECT_FALSE(sampler_.active());
}

}  // namespace
}  // namespace braid::commands
