// ClusterClock: every tick is later than all before, whatever the machine's clock and the clients say.
#include "engine/commands/cluster_clock.h"

#include <set>
#include <thread>
#include <vector>

#include "base/testing/testing.h"

namespace braid::commands {
namespace {

constexpr uint64_t kStartSeconds = 1'700'000'000;

TEST(ClusterClockTest, TicksFollowTheClockAndNeverGoBack) {
  ManualClock clock;
  ClusterClock cluster(clock);
  EXPECT_EQ(cluster.Now(), kStartSeconds << 32 | 1);
  EXPECT_EQ(cluster.Tick(), kStartSeconds << 32 | 2);
  EXPECT_EQ(cluster.Tick(), kStartSeconds << 32 | 3);
  clock.Advance(std::chrono::seconds(5));
  EXPECT_EQ(cluster.Now(), kStartSeconds << 32 | 3) << "only a write makes it later";
  EXPECT_EQ(cluster.Tick(), (kStartSeconds + 5) << 32 | 1);
  clock.Advance(std::chrono::seconds(-60));
  EXPECT_EQ(cluster.Tick(), (kStartSeconds + 5) << 32 | 2);
}

TEST(ClusterClockTest, WhatAClientHasSeen) {
  ManualClock clock;
  ClusterClock cluster(clock);
  const uint64_t seen = (kStartSeconds + 100) << 32 | 7;
  cluster.Advance(seen);
  EXPECT_EQ(cluster.Now(), seen);
  EXPECT_EQ(cluster.Tick(), seen + 1);
  cluster.Advance(kStartSeconds << 32);
  EXPECT_EQ(cluster.Now(), seen + 1) << "an earlier time changes nothing";
  cluster.Advance((kStartSeconds + 366 * 24 * 3600) << 32);
  EXPECT_EQ(cluster.Now(), seen + 1) << "a time too far ahead is not believed";
}

TEST(ClusterClockTest, ThreadsNeverGetTheSameTime) {
  ManualClock clock;
  ClusterClock cluster(clock);
  constexpr int kThreads = 4;
  constexpr int kTicks = 2000;
  std::vector<std::vector<uint64_t>> times(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : times) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTicks; ++i) mine.push_back(cluster.Tick());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const auto& mine : times) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), size_t{kThreads} * kTicks);
}

}  // namespace
}  // namespace braid::commands
