#include "engine/txn/lock_table.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/testing/testing.h"

namespace braid::txn {
namespace {

TEST(LockTableTest, OneOwnerAtATime) {
  LockTable table;
  const uint64_t key = LockTable::HashOf("a");
  ASSERT_TRUE(*table.Lock(1, key));
  EXPECT_FALSE(*table.Lock(1, key));  // again, by the same owner
  EXPECT_EQ(table.Lock(2, key).status().code(), Code::kWriteConflict);
  EXPECT_TRUE(*table.Lock(2, LockTable::HashOf("b")));
  table.Unlock(key);
  EXPECT_TRUE(*table.Lock(2, key));
}

TEST(LockTableTest, ProtectsUnderContention) {
  LockTable table;
  const uint64_t key = LockTable::HashOf("hot");
  int unprotected = 0;
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  std::vector<std::thread> threads;
  for (int t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        while (!table.Lock(static_cast<LockOwner>(t), key).ok()) std::this_thread::yield();
        ++unprotected;
        table.Unlock(key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unprotected, kThreads * kRounds);
}

}  // namespace
}  // namespace braid::txn
