// How fast, how far, how long; and the same reason is counted, not repeated.
#include "cli/job_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace braid::cli {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PaceTest, RateShareAndTimeLeft) {
  const Pace::Clock::time_point start;
  Pace pace(start);
  EXPECT_EQ(pace.ToString(50'000, 0.1, start + seconds(2)), "25 000/s, 10 %, 18 s left");
  EXPECT_EQ(pace.ToString(100'000, 0.2, start + seconds(4)), "25 000/s, 20 %, 16 s left");
  EXPECT_EQ(pace.ToString(100'000, std::nullopt, start + seconds(5)), "20 000/s");
}

TEST(PaceTest, OnlyTheLastSecondsCount) {
  const Pace::Clock::time_point start;
  Pace pace(start);
  for (int i = 1; i <= 20; ++i) pace.ToString(1000 * i, 0.01 * i, start + seconds(i));
  for (int i = 21; i <= 40; ++i) pace.ToString(20'000, 0.2, start + seconds(i));
  EXPECT_EQ(pace.ToString(20'000, 0.2, start + seconds(41)), "0/s, 20 %");
}

TEST(PaceTest, Durations) {
  EXPECT_EQ(Duration(0), "0 s");
  EXPECT_EQ(Duration(59.4), "59 s");
  EXPECT_EQ(Duration(80), "1 min 20 s");
  EXPECT_EQ(Duration(7505), "2 h 05 min");
}

TEST(ReasonsTest, TheSameReasonIsShownOnceAndCounted) {
  Reasons reasons;
  EXPECT_TRUE(reasons.Add("staking_value is -5; it must be at least 0"));
  EXPECT_THAT(reasons.Repeated(), IsEmpty());
  EXPECT_FALSE(reasons.Add("staking_value is -17; it must be at least 0"));
  EXPECT_FALSE(reasons.Add("staking_value is -17; it must be at least 0"));
  EXPECT_TRUE(reasons.Add("price is 'x', which is not a decimal"));
  EXPECT_FALSE(reasons.Add("price is 'y z', which is not a decimal"));
  EXPECT_TRUE(reasons.Add("it's another"));
  EXPECT_THAT(reasons.Repeated(), ElementsAre("and 1 more: price is 'x', which is not a decimal",
                                              "and 2 more: staking_value is -5; it must be at least 0"));
}

TEST(ReasonsTest, ManyKindsAreOnlyCounted) {
  Reasons reasons;
  int shown = 0;
  for (char a = 'a'; a <= 'z'; ++a) shown += reasons.Add(StrCat("kind ", std::string(1, a))) ? 1 : 0;
  EXPECT_EQ(shown, 20);
  EXPECT_THAT(reasons.Repeated(), ElementsAre("and 6 more for other reasons"));
}

}  // namespace

}  // namespace braid::cli
