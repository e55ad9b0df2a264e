// How fast, how far, how long.
#include "cli/pace.h"

#include <gtest/gtest.h>

namespace braid::cli {
namespace {

using std::chrono::seconds;

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

}  // namespace
}  // namespace braid::cli
