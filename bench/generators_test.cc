// The distributions: their shape, their bounds, and what concurrent inserts make readable.
#include "bench/generators.h"

#include <cmath>
#include <map>
#include <set>

#include "base/testing/testing.h"

namespace braid::bench {
namespace {

constexpr int kDraws = 200'000;

TEST(ZipfianTest, FrequenciesFollowThePowerLaw) {
  Random random(test::Seed());
  constexpr uint64_t kItems = 1000;
  Zipfian zipfian(kItems);
  std::vector<int> counts(kItems);
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t n = zipfian.Next(random);
    ASSERT_LT(n, kItems);
    ++counts[n];
  }
  double zeta = 0;
  for (uint64_t i = 1; i <= kItems; ++i) zeta += std::pow(static_cast<double>(i), -Zipfian::kTheta);
  // The first two are exact; further ones are the published approximation, compared over whole decades.
  EXPECT_NEAR(counts[0], kDraws / zeta, kDraws / zeta * 0.05);
  EXPECT_NEAR(counts[1], kDraws / zeta * std::pow(2, -Zipfian::kTheta), kDraws / zeta * 0.05);
  const auto decade = [&](uint64_t from, uint64_t to) {
    double expected = 0;
    int seen = 0;
    for (uint64_t i = from; i < to; ++i) {
      expected += kDraws / zeta * std::pow(static_cast<double>(i + 1), -Zipfian::kTheta);
      seen += counts[i];
    }
    EXPECT_NEAR(seen, expected, expected * 0.2) << from << " to " << to;
  };
  decade(10, 100);
  decade(100, 1000);
}

TEST(ZipfianTest, GrowingEqualsStartingLarge) {
  Zipfian grown(10);
  Zipfian fresh(5000);
  Random one(1);
  Random two(1);
  grown.Next(one, 100);
  one = Random(1);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(grown.Next(one, 5000), fresh.Next(two, 5000));
}

TEST(KeyChooserTest, EveryDistributionStaysBelowCount) {
  Random random(test::Seed());
  for (const auto distribution : {Distribution::kZipfian, Distribution::kLatest, Distribution::kUniform}) {
    KeyChooser chooser(distribution, 100);
    for (const uint64_t count : {1, 2, 3, 50, 100, 120}) {
      for (int i = 0; i < 1000; ++i) ASSERT_LT(chooser.Next(random, count), count) << Name(distribution);
    }
  }
}

TEST(KeyChooserTest, LatestPrefersTheNewest) {
  Random random(test::Seed());
  KeyChooser chooser(Distribution::kLatest, 1000);
  int newest = 0;
  for (int i = 0; i < 10'000; ++i) newest += chooser.Next(random, 1000) >= 900;
  EXPECT_GT(newest, 6000);  // a tenth of the records, most of the reads
}

TEST(KeyChooserTest, ScrambledHotRecordsAreSkewedAndStay) {
  KeyChooser chooser(Distribution::kZipfian, 1000);
  const auto hottest = [&](uint64_t count, int* times) {
    Random random(test::Seed());
    std::map<uint64_t, int> counts;
    for (int i = 0; i < 20'000; ++i) ++counts[chooser.Next(random, count)];
    uint64_t best = 0;
    for (const auto& [key, n] : counts) {
      if (n > counts[best]) best = key;
    }
    *times = counts[best];
    return best;
  };
  int before = 0;
  int after = 0;
  const uint64_t key = hottest(990, &before);
  EXPECT_EQ(key, FnvHash64(0) % 1000);
  EXPECT_EQ(hottest(1000, &after), key);
  EXPECT_GT(before, 500);  // 1/26 of the draws, against 1/1000 if uniform
}

TEST(KeyChooserTest, UniformIsFlat) {
  Random random(test::Seed());
  KeyChooser chooser(Distribution::kUniform, 10);
  std::vector<int> counts(10);
  for (int i = 0; i < 100'000; ++i) ++counts[chooser.Next(random, 10)];
  for (const int n : counts) EXPECT_NEAR(n, 10'000, 600);
}

TEST(InsertSequenceTest, CountsOnlyWithoutGaps) {
  InsertSequence sequence(10);
  EXPECT_EQ(sequence.Take(1), 10u);
  EXPECT_EQ(sequence.Take(5), 11u);
  EXPECT_EQ(sequence.Take(1), 16u);
  sequence.Acknowledge(16, 1);
  sequence.Acknowledge(11, 5);
  EXPECT_EQ(sequence.count(), 10u);
  sequence.Acknowledge(10, 1);
  EXPECT_EQ(sequence.count(), 17u);
}

TEST(DistributionTest, NamesReadBack) {
  for (const auto distribution : {Distribution::kZipfian, Distribution::kLatest, Distribution::kUniform}) {
    ASSERT_EQ(*ParseDistribution(Name(distribution)), distribution);
  }
  EXPECT_FALSE(ParseDistribution("gaussian").ok());
}

}  // namespace
}  // namespace braid::bench
