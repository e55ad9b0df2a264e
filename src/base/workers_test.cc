#include "base/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace braid {
namespace {

TEST(WorkersTest, EveryPieceIsDoneOnce) {
  Workers workers(3);
  for (size_t count : {0, 1, 2, 7, 100}) {
    std::vector<std::atomic<int>> done(count);
    workers.Run(count, [&](size_t i) { ++done[i]; });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(WorkersTest, JobsOfSeveralCallersDoNotMix) {
  Workers workers(2);
  std::vector<std::thread> callers;
  std::vector<std::atomic<int>> sums(4);
  for (size_t caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        workers.Run(8, [&](size_t) { ++sums[caller]; });
        EXPECT_EQ(sums[caller], (round + 1) * 8);  // all of them are done when Run returns
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(WorkersTest, WithoutThreadsTheCallerDoesEverything) {
  Workers workers(0);
  int sum = 0;
  workers.Run(5, [&](size_t i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 10);
}

}  // namespace
}  // namespace braid
