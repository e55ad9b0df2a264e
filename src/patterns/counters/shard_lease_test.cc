// Leases of logical shards: one writer each, chance when all are taken, and no lease that outlives its writer for long.
#include <chrono>
#include <set>
#include <thread>

#include "base/strings.h"
#include "braid/clock.h"
#include "braid/counters.h"
#include "client/fields.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"

namespace braid {
namespace {

using client::Bson;

class ShardLeaseTest : public test::StoreTest {
 protected:
  std::unique_ptr<ShardLease> Take(uint32_t shards, const std::string& group = "g", int64_t lifetime_ms = 10'000) {
    auto lease = ShardLease::Take(
        store_.clients(),
        {.database = store_.database(), .group = group, .shard_count = shards, .lifetime_ms = lifetime_ms});
    EXPECT_OK(lease);
    return *std::move(lease);
  }
  // Gives the lease of a shard to `owner`, for so long from now.
  void Overwrite(const std::string& id, const std::string& owner, int64_t from_now_ms) {
    Bson filter;
    filter.Text("_id", id);
    Bson fields;
    fields.Text("owner", owner).Date("expires_at", Clock::System().NowMillis() + from_now_ms);
    Bson change;
    change.Document("$set", fields);
    const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
    ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()}, [&](Transaction& transaction) {
      return transaction.UpdateOnes("counter_leases", {&update, 1}).status();
    }));
  }
};
INSTANTIATE_ON_STORES(ShardLeaseTest);

TEST_P(ShardLeaseTest, EachHasAShardOfItsOwn) {
  std::vector<std::unique_ptr<ShardLease>> leases;
  std::set<uint32_t> shards;
  for (int i = 0; i < 5; ++i) {
    leases.push_back(Take(5));
    EXPECT_TRUE(leases.back()->owned());
    shards.insert(leases.back()->Shard().value());
    EXPECT_EQ(leases.back()->Shard().value(), leases.back()->Shard().value());
  }
  EXPECT_EQ(shards, std::set<uint32_t>({0, 1, 2, 3, 4}));
  EXPECT_TRUE(Take(5, "another group")->owned());
}

TEST_P(ShardLeaseTest, TakenAtTheSameTimeTheyAreDifferentToo) {
  constexpr uint32_t kThreads = 6;
  std::vector<std::unique_ptr<ShardLease>> leases(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { leases[i] = Take(kThreads); });
  for (std::thread& thread : threads) thread.join();
  std::set<uint32_t> shards;
  for (const auto& lease : leases) {
    EXPECT_TRUE(lease->owned());
    shards.insert(lease->Shard().value());
  }
  EXPECT_EQ(shards.size(), kThreads);
}

TEST_P(ShardLeaseTest, WhenAllAreTakenShardsAreChosenAtRandom) {
  const auto first = Take(2);
  const auto second = Take(2);
  const auto third = Take(2);
  EXPECT_FALSE(third->owned());
  std::set<uint32_t> chosen;
  for (int i = 0; i < 100; ++i) chosen.insert(third->Shard().value());
  EXPECT_EQ(chosen, std::set<uint32_t>({0, 1}));
}

TEST_P(ShardLeaseTest, CloseGivesTheShardBackAndSaysIfItCannot) {
  const auto first = Take(1);
  ASSERT_TRUE(first->owned());
  ASSERT_OK(first->Close());
  EXPECT_FALSE(first->owned());
  EXPECT_OK(first->Close());
  test::FlakyClients flaky(store_.clients());
  auto second = ShardLease::Take(flaky, {.database = store_.database(), .group = "g", .shard_count = 1});
  ASSERT_OK(second);
  EXPECT_TRUE((*second)->owned());
  flaky.Fail(true);
  EXPECT_EQ((*second)->Close().code(), Code::kHostUnreachable);
}

TEST_P(ShardLeaseTest, ReleaseFreesTheShard) {
  auto first = Take(1);
  EXPECT_FALSE(Take(1)->owned());
  first.reset();
  const auto second = Take(1);
  EXPECT_TRUE(second->owned());
  EXPECT_EQ(second->Shard().value(), 0U);
}

TEST_P(ShardLeaseTest, AnExpiredLeaseIsTakenOver) {
  Overwrite("g:0", "dead", -1);
  Overwrite("g:1", "alive", 60'000);
  const auto lease = Take(2);
  ASSERT_TRUE(lease->owned());
  EXPECT_EQ(lease->Shard().value(), 0U);
  EXPECT_FALSE(Take(2)->owned());
}

// A lease that was lost is noticed when it would be renewed; one that nobody wanted is renewed.
TEST_P(ShardLeaseTest, RenewsWhatItHasAndFindsAnotherWhenItWasLost) {
  const auto lease = Take(2, "g", 1000);
  ASSERT_EQ(lease->Shard().value(), 0U);
  Overwrite("g:0", "thief", 60'000);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
  while (lease->Shard().value() == 0 && elapsed() < std::chrono::seconds(10)) std::this_thread::yield();
  EXPECT_EQ(lease->Shard().value(), 1U);
  EXPECT_TRUE(lease->owned());
  // Past the first lease's life the shard is still ours, for it was renewed.
  while (elapsed() < std::chrono::milliseconds(2500)) ASSERT_EQ(lease->Shard().value(), 1U);
  EXPECT_FALSE(Take(2)->owned());
}

// Without a shard it looks again from time to time.
TEST_P(ShardLeaseTest, GetsAShardOnceOneIsFree) {
  auto first = Take(1);
  const auto second = Take(1, "g", 1000);
  ASSERT_FALSE(second->owned());
  first.reset();
  const auto start = std::chrono::steady_clock::now();
  while (!second->owned() && std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) {
    ASSERT_OK(second->Shard());
  }
  EXPECT_TRUE(second->owned());
}

TEST_P(ShardLeaseTest, ALeaseThatWasLostIsNotGivenBack) {
  auto lease = Take(1);
  Overwrite("g:0", "thief", 60'000);
  lease.reset();
  EXPECT_FALSE(Take(1)->owned());
}

TEST_P(ShardLeaseTest, TooShort) {
  const auto lease =
      ShardLease::Take(store_.clients(), {.database = store_.database(), .group = "g", .lifetime_ms = 999});
  EXPECT_EQ(lease.status().code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid
