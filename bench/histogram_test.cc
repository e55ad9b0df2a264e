// The histogram against sorted values.
#include "bench/histogram.h"

#include <algorithm>

#include "base/testing/testing.h"

namespace braid::bench {
namespace {

TEST(HistogramTest, EmptyIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
  EXPECT_EQ(histogram.mean(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 100; ++i) histogram.Record(i);
  EXPECT_EQ(histogram.Quantile(0.5), 50u);
  EXPECT_EQ(histogram.Quantile(0.99), 99u);
  EXPECT_EQ(histogram.Quantile(0), 1u);
  EXPECT_EQ(histogram.Quantile(1), 100u);
  EXPECT_EQ(histogram.mean(), 50.5);
}

TEST(HistogramTest, TheGreatestValueFits) {
  Histogram histogram;
  histogram.Record(UINT64_MAX);
  histogram.Record(0);
  EXPECT_EQ(histogram.Quantile(1), UINT64_MAX);
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
}

// Any quantile of any values, spread over all magnitudes and over several threads' histograms: within 0.8 % above.
TEST(HistogramTest, QuantilesAreWithinOnePercent) {
  Random random(test::Seed());
  std::vector<uint64_t> values;
  Histogram parts[3];
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random.Next() >> random.Below(64));
    parts[i % 3].Record(values.back());
  }
  Histogram all;
  for (const Histogram& part : parts) all.Merge(part);
  ASSERT_EQ(all.count(), values.size());
  std::sort(values.begin(), values.end());
  EXPECT_EQ(all.max(), values.back());
  for (size_t rank = 1; rank <= values.size(); rank += 7) {
    const uint64_t exact = values[rank - 1];
    const uint64_t estimate = all.Quantile(static_cast<double>(rank) / static_cast<double>(values.size()));
    ASSERT_GE(estimate, exact);
    ASSERT_LE(static_cast<double>(estimate - exact), static_cast<double>(exact) / 128) << "rank " << rank;
  }
}

}  // namespace
}  // namespace braid::bench
