// A chunk that moves: where documents go meanwhile, and that writers are not kept out until it has moved.
#include "engine/balance/move.h"

#include <thread>

#include "engine/balance/testing_fixture.h"

namespace braid::balance {
namespace {

class MoveTest : public BalanceTest {
 protected:
  // Chunks of k below and from 10 on, the second one about to move from shard 0 to shard 1.
  void BeginMove() {
    AddShards(1);
    Create();
    ASSERT_OK(Shard("{'k': 1}"));
    ASSERT_OK(Change([](sharding::Placement* table) { return table->Split(bson::J("{'k': 10}")); }));
    for (const char* document : {"{'_id': 1, 'k': 1}", "{'_id': 2, 'k': 20}"}) ASSERT_OK(Insert(document));
    EXPECT_EQ(ShardOf("{'_id': 1}"), 0u);
    EXPECT_EQ(MoveChunk(1, 1, /*killed=*/true).error().code(), Code::kInterrupted);
    ASSERT_TRUE(placement()->is_moving());
    EXPECT_EQ(ShardOf("{'_id': 2}"), 0u);
  }
  storage::ShardNumber ShardOf(std::string_view filter) {
    Session session(*this);
    const auto rows = Read(session.context, Ask(bson::J(filter)));
    EXPECT_TRUE(rows.ok() && rows->size() == 1) << filter;
    return rows->front().shard;
  }
};

TEST_F(MoveTest, NothingComesToTheShardThatAChunkLeaves) {
  BeginMove();
  ASSERT_OK(Replace(bson::J("{'_id': 2, 'k': 21}").view()));
  EXPECT_EQ(ShardOf("{'_id': 2}"), 0u) << "it was there, and may stay until it is moved";
  ASSERT_OK(Replace(bson::J("{'_id': 1, 'k': 22}").view()));
  EXPECT_EQ(ShardOf("{'_id': 1}"), 1u) << "it comes from another chunk";
  ASSERT_OK(Insert("{'_id': 3, 'k': 23}"));
  EXPECT_EQ(ShardOf("{'_id': 3}"), 1u);
  EXPECT_EQ(Continue().value_or(0), 1u);
  EXPECT_FALSE(placement()->is_moving());
  EXPECT_OK(Check());
}

// A split of the range meanwhile does not keep its parts from ending.
TEST_F(MoveTest, AMovingChunkThatIsSplitEndsInItsParts) {
  BeginMove();
  ASSERT_OK(Change([](sharding::Placement* table) { return table->Split(bson::J("{'k': 15}")); }));
  EXPECT_EQ(Continue().value_or(0), 1u);
  EXPECT_FALSE(placement()->is_moving());
  EXPECT_EQ(placement()->chunks.size(), 3u);
}

TEST_F(MoveTest, WritersAreNotKeptOutWhileDocumentsAreLeft) {
  BeginMove();
  Session holder(*this);
  storage::Buffer buffer;
  ASSERT_OK(txn::ReadForChange(holder.context, *Find(), bson::J("{'_id': 2}").Find("_id"), &buffer));
  Gate& gate = Find()->state->gate;
  Result<Gate::Pass> writer = gate.Share(*holder.operation);  // as a statement that writes
  ASSERT_OK(writer);
  Session mover(*this);
  std::thread moves([&] { EXPECT_EQ(ContinueMoves(mover.context, ns_, Find()->number).value_or(0), 1u); });
  while (!mover.operation->waiting()) std::this_thread::yield();
  EXPECT_FALSE(gate.IsWanted()) << "it waits for the document, not for the writers";
  holder.context.Abort();
  writer->Release();
  moves.join();
  EXPECT_FALSE(placement()->is_moving());
}

}  // namespace
}  // namespace braid::balance
