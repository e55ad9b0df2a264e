#include "engine/sharding/shard_figures.h"

#include <thread>
#include <vector>

#include "base/testing/testing.h"

namespace braid::sharding {
namespace {

TEST(ShardFiguresTest, ShardsThatWereNotUsedHaveZeros) {
  const ShardFigures figures;
  EXPECT_EQ(figures.Of(0).asked, 0u);
  EXPECT_EQ(figures.Of(storage::kNoShard).written, 0u);
}

TEST(ShardFiguresTest, EachShardHasItsOwn) {
  ShardFigures figures;
  const storage::ShardNumber shards[] = {0, 1, 31, 32, 1000};
  for (const storage::ShardNumber shard : shards) {
    for (int i = 0; i <= shard; ++i) figures.CountAsked(shard);
    figures.CountWritten(shard);
  }
  for (const storage::ShardNumber shard : shards) {
    EXPECT_EQ(figures.Of(shard).asked, shard + 1u);
    EXPECT_EQ(figures.Of(shard).written, 1u);
  }
  EXPECT_EQ(figures.Of(33).asked, 0u);
  EXPECT_EQ(figures.Of(2000).asked, 0u);
}

TEST(ShardFiguresTest, NothingIsLostBetweenThreads) {
  ShardFigures figures;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&figures] {
      for (int round = 0; round < 200; ++round) {
        for (storage::ShardNumber shard = 0; shard < 200; ++shard) figures.CountWritten(shard);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (storage::ShardNumber shard = 0; shard < 200; ++shard) EXPECT_EQ(figures.Of(shard).written, 800u);
}

}  // namespace
}  // namespace braid::sharding
