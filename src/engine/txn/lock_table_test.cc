#include "engine/txn/lock_table.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
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
  table.Unlock(1, {&key, 1}, 0);
  EXPECT_TRUE(*table.Lock(2, key));
}

TEST(LockTableTest, AViewMayNotChangeWhatWasChangedSince) {
  LockTable table;
  const uint64_t before = LockTable::HashOf("before");
  const uint64_t after = LockTable::HashOf("after");
  const uint64_t untouched = LockTable::HashOf("untouched");
  table.OpenView();  // reads the state of position 10
  ASSERT_TRUE(*table.Lock(1, before));
  table.Unlock(1, {&before, 1}, 10);
  ASSERT_TRUE(*table.Lock(1, after));
  table.Unlock(1, {&after, 1}, 11);
  ASSERT_TRUE(*table.Lock(1, untouched));
  table.Unlock(1, {&untouched, 1}, 0);  // given up

  EXPECT_EQ(table.Lock(2, after, 10).status().code(), Code::kWriteConflict);
  EXPECT_TRUE(*table.Lock(3, after));  // the refused one has not kept it
  table.Unlock(3, {&after, 1}, 0);
  EXPECT_TRUE(*table.Lock(2, after, 11));  // a younger view
  EXPECT_TRUE(*table.Lock(2, before, 10));
  EXPECT_TRUE(*table.Lock(2, untouched, 10));
}

TEST(LockTableTest, NothingIsRememberedWithoutAView) {
  LockTable table;
  const uint64_t key = LockTable::HashOf("a");
  table.OpenView();
  table.CloseView();
  ASSERT_TRUE(*table.Lock(1, key));
  table.Unlock(1, {&key, 1}, 11);
  EXPECT_TRUE(*table.Lock(2, key, 10));
}

// A transaction that was open during a large commit may still change what that one left alone.
TEST(LockTableTest, ALargeCommitIsRemembered) {
  LockTable table;
  table.OpenView();  // reads the state of position 10
  std::vector<uint64_t> keys;
  for (uint64_t key = 0; key < 100'000; ++key) keys.push_back(LockTable::HashOf(std::to_string(key)));
  for (int commit = 0; commit < 10; ++commit) {  // of which the first ones are forgotten
    for (uint64_t& key : keys) ASSERT_TRUE(*table.Lock(1, key += 64));
    table.Unlock(1, keys, commit < 9 ? 10 : 11);
  }
  EXPECT_TRUE(*table.Lock(2, LockTable::HashOf("untouched"), 10));
  for (const uint64_t key : keys) ASSERT_EQ(table.Lock(2, key, 10).status().code(), Code::kWriteConflict);
}

// As the map of the standard library, which is the oracle here.
TEST(LockMapTest, HoldsWhatWasAdded) {
  Random random(test::Seed());
  LockMap map;
  std::map<uint64_t, uint64_t> expected;
  for (int step = 0; step < 200'000; ++step) {
    const uint64_t key = (random.Below(step % 40'000 < 20'000 ? 3000 : 40) << LockMap::kStripeBits) * 0x9e37'79b9;
    if (random.Chance(step % 20'000 < 12'000 ? 2 : 1, 3)) {
      const auto [value, is_new] = map.TryEmplace(key, step + 1);
      const auto [place, was_new] = expected.try_emplace(key, step + 1);
      ASSERT_EQ(is_new, was_new);
      ASSERT_EQ(*value, place->second);
    } else if (expected.contains(key)) {
      map.Erase(key);
      expected.erase(key);
    } else {
      ASSERT_EQ(map.Find(key), nullptr);
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  for (const auto& [key, value] : expected) ASSERT_EQ(*map.Find(key), value);
  while (!expected.empty()) {
    map.Erase(expected.begin()->first);
    expected.erase(expected.begin());
    for (const auto& [key, value] : expected) ASSERT_EQ(*map.Find(key), value);
  }
}

// What cannot be remembered any more counts as changed: a conflict too many, never one too few.
TEST(LockTableTest, ManyChangesAreForgottenOnTheSafeSide) {
  LockTable table;
  table.OpenView();
  constexpr uint64_t kKeys = 2'000'000;
  for (uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_TRUE(*table.Lock(1, key));
    table.Unlock(1, {&key, 1}, 100 + key);
  }
  for (uint64_t key = 0; key < kKeys; key += 1001) {
    ASSERT_EQ(table.Lock(2, key, 99).status().code(), Code::kWriteConflict) << key;
  }
  const uint64_t last = kKeys - 1;
  EXPECT_EQ(table.Lock(2, last, 100 + kKeys - 2).status().code(), Code::kWriteConflict);
  EXPECT_TRUE(*table.Lock(2, last, 100 + kKeys - 1));
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
        table.Unlock(static_cast<LockOwner>(t), {&key, 1}, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unprotected, kThreads * kRounds);
}

// Each waiter is enqueued before the next one comes, so the order is known.
TEST(LockTableTest, WaitersGetTheKeyInTheOrderInWhichTheyCame) {
  LockTable table;
  Operations operations(Clock::System());
  const uint64_t key = LockTable::HashOf("hot");
  ASSERT_TRUE(*table.Lock(1, key));
  Mutex mu;
  std::vector<LockOwner> order;
  std::vector<std::thread> threads;
  for (LockOwner owner = 2; owner <= 9; ++owner) {
    Operation* waiting = nullptr;
    std::atomic<bool> started{false};
    threads.emplace_back([&, owner] {
      const Operations::Handle operation = operations.Start();
      waiting = &*operation;
      started = true;
      EXPECT_OK(table.Wait(owner, key, *operation));
      {
        const MutexLock lock(mu);
        order.push_back(owner);
      }
      table.Unlock(owner, {&key, 1}, 0);
    });
    while (!started || !waiting->waiting()) std::this_thread::yield();
  }
  EXPECT_EQ(table.Lock(10, key).status().code(), Code::kWriteConflict);
  table.Unlock(1, {&key, 1}, 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<LockOwner>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(*table.Lock(10, key));
}

TEST(LockTableTest, AWaiterThatIsKilledLeavesTheQueue) {
  LockTable table;
  Operations operations(Clock::System());
  const uint64_t key = LockTable::HashOf("hot");
  ASSERT_TRUE(*table.Lock(1, key));
  std::atomic<int64_t> id{0};
  Status status;
  std::thread thread([&] {
    const Operations::Handle operation = operations.Start();
    id = operation->id;
    status = table.Wait(2, key, *operation);
  });
  while (id == 0) std::this_thread::yield();
  EXPECT_TRUE(operations.Kill(id, Code::kInterrupted));
  thread.join();
  EXPECT_EQ(status.code(), Code::kInterrupted);
  table.Unlock(1, {&key, 1}, 0);
  EXPECT_TRUE(*table.Lock(3, key));
}

TEST(LockTableTest, AWaiterWhoseTimeIsOverLeavesTheQueue) {
  LockTable table;
  Operations operations(Clock::System());
  const uint64_t key = LockTable::HashOf("hot");
  ASSERT_TRUE(*table.Lock(1, key));
  const Operations::Handle operation =
      operations.Start([](Operation& started) { started.deadline = started.started + std::chrono::milliseconds(20); });
  EXPECT_EQ(table.Wait(2, key, *operation).code(), Code::kMaxTimeMSExpired);
  table.Unlock(1, {&key, 1}, 0);
  EXPECT_TRUE(*table.Lock(3, key));
}

}  // namespace
}  // namespace braid::txn
