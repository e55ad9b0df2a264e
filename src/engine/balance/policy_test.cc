#include "engine/balance/policy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace braid::balance {
namespace {

/// Runs transfers to the end; how much was moved in all.
double Settle(std::vector<Load>& loads, const Tolerance& tolerance) {
  bool under_way = false;
  double moved = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto transfer = NextTransfer(loads, tolerance, &under_way);
    if (!transfer) return moved;
    for (Load& load : loads) {
      if (load.shard == transfer->from) load.amount -= std::floor(transfer->amount);
      if (load.shard == transfer->to) load.amount += std::floor(transfer->amount);
    }
    moved += std::floor(transfer->amount);
  }
  ADD_FAILURE() << "does not end";
  return moved;
}

TEST(PolicyTest, ANewShardGetsItsShareAndNoMore) {
  for (int n : {1, 2, 4, 8, 16}) {
    std::vector<Load> loads;
    for (int i = 0; i < n; ++i) loads.push_back({static_cast<storage::ShardNumber>(i), 90000.0 / n});
    loads.push_back({static_cast<storage::ShardNumber>(n), 0});
    const double moved = Settle(loads, {100, 16});
    EXPECT_LE(moved, 90000.0 / (n + 1));
    EXPECT_GE(moved, 0.95 * 90000.0 / (n + 1));
  }
}

TEST(PolicyTest, SmallDifferencesAreLeftAlone) {
  std::vector<Load> loads{{0, 1040}, {1, 980}, {2, 980}};
  EXPECT_EQ(Settle(loads, {100, 16}), 0);
}

TEST(PolicyTest, ADrainingShardIsEmptied) {
  std::vector<Load> loads{{0, 1000}, {1, 1000}, {2, 1000, true}};
  Settle(loads, {100, 1});
  EXPECT_EQ(loads[2].amount, 0);
  EXPECT_EQ(loads[0].amount, 1500);
  EXPECT_EQ(loads[1].amount, 1500);
}

TEST(PolicyTest, AStuckShardDoesNotHoldUpTheOthers) {
  std::vector<Load> loads{{0, 10000, false, true}, {1, 3000}, {2, 0}};
  bool under_way = false;
  EXPECT_FALSE(NextTransfer(loads, {100, 16}, &under_way)) << "the second is below the mean";
  loads[1].amount = 9000;
  const auto transfer = NextTransfer(loads, {100, 16}, &under_way);
  ASSERT_TRUE(transfer);
  EXPECT_EQ(transfer->from, 1);
  EXPECT_EQ(transfer->to, 2);
}

TEST(PolicyTest, NobodyLeftToTakeIt) {
  std::vector<Load> loads{{0, 1000, true}};
  bool under_way = false;
  EXPECT_FALSE(NextTransfer(loads, {0, 0}, &under_way));
}

}  // namespace
}  // namespace braid::balance
