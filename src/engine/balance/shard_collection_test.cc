#include "engine/balance/shard_collection.h"

#include <atomic>
#include <thread>

#include "engine/balance/testing_fixture.h"

namespace braid::balance {
namespace {

class ShardCollectionTest : public BalanceTest {
 protected:
  void Fill(int count) {
    AddShards(2);
    Create();
    ASSERT_OK(Build({"{'v': 2, 'key': {'k': 'hashed'}, 'name': 'k_hashed'}",
                     "{'v': 2, 'key': {'u': 1}, 'name': 'u_1', 'unique': true}"}));
    for (int i = 0; i < count; ++i) ASSERT_OK(Insert(bson::Make("_id", i, "k", i, "u", i).view()));
  }
  size_t GlobalKeys() {
    size_t keys = KeysIn(storage::GlobalRange(Find()->number));
    for (const auto& index : Find()->indexes) {
      if (index->number != 0) keys += KeysIn(storage::GlobalRange(index->number));
    }
    return keys;
  }
  void ExpectUntouched(int count) {
    EXPECT_FALSE(Find()->sharded());
    EXPECT_FALSE(placement()->keeps_global_keys());
    EXPECT_EQ(GlobalKeys(), 0u);
    EXPECT_EQ(Count(bson::Document()).value(), count);
    ExpectValid();
  }
};

TEST_F(ShardCollectionTest, AFilledCollectionStaysWhereItIsAndKeepsItsKeysUnique) {
  Fill(500);
  ASSERT_OK(Shard("{'k': 'hashed'}"));
  EXPECT_TRUE(Find()->sharded());
  EXPECT_EQ(placement()->chunks.size(), 1u);
  EXPECT_EQ(GlobalKeys(), 1000u);  // of _id and of u
  ExpectValid();
  ASSERT_OK(Change([](sharding::Placement* table) { return table->Split(bson::Make("k", int64_t{0})); }));
  ASSERT_OK(MoveChunk(1, 2));
  EXPECT_EQ(GlobalKeys(), 1000u);
  EXPECT_EQ(Insert("{'_id': 1000, 'k': 'elsewhere', 'u': 7}").code(), Code::kDuplicateKey);
  EXPECT_EQ(Insert("{'_id': 7, 'k': 'elsewhere', 'u': 1000}").code(), Code::kDuplicateKey);
  ExpectValid();
}

TEST_F(ShardCollectionTest, AKillLeavesTheCollectionAsItWas) {
  Fill(300);
  ShardOptions options;
  options.key = sharding::ShardKey::Parse(bson::J("{'k': 'hashed'}")).value();
  {
    Session session(*this);
    session.operation->killed = static_cast<int>(Code::kInterrupted);
    EXPECT_EQ(ShardCollection(session.context, ns_, options).code(), Code::kInterrupted);
  }
  ExpectUntouched(300);
  ASSERT_OK(Shard("{'k': 'hashed'}"));
  ExpectValid();
}

TEST_F(ShardCollectionTest, ADocumentWithoutAPlaceLeavesTheCollectionAsItWas) {
  Fill(300);
  ASSERT_OK(Insert("{'_id': 1000, 'k': {'$regularExpression': {'pattern': 'x', 'options': ''}}, 'u': 1000}"));
  EXPECT_EQ(Shard("{'k': 'hashed'}").code(), Code::kShardKeyNotFound);
  ExpectUntouched(301);
}

TEST_F(ShardCollectionTest, ACrashInBetweenIsMendedAtTheNextStart) {
  Fill(300);
  const uint32_t number = Find()->number;
  // What Announce and a part of Fill have done when the lights go out.
  ASSERT_OK(catalog_->Place(ns_, number, [](sharding::Placement* table, storage::WriteSet&) -> Status {
    BRAID_TRY(table->key, sharding::ShardKey::Parse(bson::J("{'k': 'hashed'}")));
    table->preparing = true;
    table->chunks.front().min = table->key.Lowest();
    BRAID_TRY(table->chunks.front().begin, table->key.Encode(table->chunks.front().min));
    return {};
  }));
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(Statement([&](txn::Context& context, const auto& collection) -> Status {
      storage::Buffer buffer;
      const bson::Document id = bson::Make("_id", i);
      BRAID_TRY(const auto shard, txn::ReadForChange(context, *collection, id.Find("_id"), &buffer));
      return txn::AddGlobalKeys(context, collection, *shard, bson::View(buffer.view()));
    }));
  }
  ASSERT_OK(Insert("{'_id': 300, 'k': 300, 'u': 300}"));
  EXPECT_GT(GlobalKeys(), 200u);
  Open();
  ExpectUntouched(301);
  ASSERT_OK(Shard("{'k': 'hashed'}"));
  EXPECT_EQ(GlobalKeys(), 602u);
  ExpectValid();
}

// While a whole collection moves (movePrimary) its documents are on two shards, and so are the entries of its indexes.
TEST_F(ShardCollectionTest, KeysStayUniqueWhileAnUnshardedCollectionMoves) {
  Fill(300);
  {
    Session session(*this);
    session.operation->killed = static_cast<int>(Code::kInterrupted);
    EXPECT_EQ(MoveRange(session.context, ns_, Find()->number, {}, 1).error().code(), Code::kInterrupted);
  }
  ASSERT_TRUE(placement()->is_moving());
  EXPECT_EQ(Insert("{'_id': 1000, 'k': 1, 'u': 7}").code(), Code::kDuplicateKey);
  EXPECT_EQ(Insert("{'_id': 7, 'k': 1, 'u': 1000}").code(), Code::kDuplicateKey);
  EXPECT_EQ(Replace(bson::J("{'_id': 8, 'k': 1, 'u': 7}").view()).code(), Code::kDuplicateKey);
  ASSERT_OK(Insert("{'_id': 1000, 'k': 1, 'u': 1000}"));  // on the new shard already
  EXPECT_EQ(Replace(bson::J("{'_id': 8, 'k': 1, 'u': 1000}").view()).code(), Code::kDuplicateKey);
  ASSERT_OK(Replace(bson::J("{'_id': 8, 'k': 1, 'u': 1001}").view()));
  ASSERT_OK(Insert("{'_id': 1001, 'k': 1, 'u': 8}"));
  ExpectValid();
  ASSERT_OK(Continue());
  EXPECT_EQ(placement()->Shards(), sharding::ShardNumbers{1});
  EXPECT_EQ(Insert("{'_id': 1002, 'k': 1, 'u': 7}").code(), Code::kDuplicateKey);
  EXPECT_EQ(Count(bson::Document()).value(), 302);
  ExpectValid();
}

TEST_F(ShardCollectionTest, WritersGoOnMeanwhile) {
  Fill(2000);
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  std::atomic<int> written[2] = {0, 0};
  for (int w = 0; w < 2; ++w) {
    threads.emplace_back([this, w, &stop, &failures, &written] {
      for (int i = 0; !stop; ++i) {
        const int fresh = 10'000 + w * 100'000 + i;
        if (!Insert(bson::Make("_id", fresh, "k", fresh, "u", fresh).view()).ok()) ++failures;
        const int old = (i * 37 + w) % 1000 * 2 + w;  // each has its own half
        if (!Replace(bson::Make("_id", old, "k", i, "u", old).view()).ok()) ++failures;
        if (Insert(bson::Make("_id", -fresh, "k", i, "u", old).view()).code() != Code::kDuplicateKey) ++failures;
        ++written[w];
      }
    });
  }
  const Status status = Shard("{'k': 'hashed'}");
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(status);
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(Count(bson::Document()).value(), 2000 + written[0] + written[1]);
  EXPECT_EQ(GlobalKeys(), 2 * static_cast<size_t>(2000 + written[0] + written[1]));
  ExpectValid();
}

}  // namespace
}  // namespace braid::balance
