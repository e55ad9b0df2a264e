// Following a node: through switches, faults and contradictions the index ends as an import of the node's chain.
#include "services/explorer/source/sync.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "embedded/testing/stores.h"
#include "services/explorer/source/node_testing.h"

namespace braid::explorer::source {
namespace {

using ::testing::HasSubstr;

class SyncTest : public test::StoreTest {
 protected:
  // The other database is not the store's.
  void TearDown() override {
    const Client client = store_.clients().Acquire();
    const client::DatabasePtr other(mongoc_client_get_database(client.get(), (store_.database() + "_import").c_str()));
    mongoc_database_drop(other.get(), nullptr);
  }

  std::unique_ptr<Explorer> OpenIndex(const std::string& name) {
    auto explorer = Explorer::Open(store_.clients(), {.database = store_.database() + name});
    EXPECT_OK(explorer);
    return std::move(*explorer);
  }

  static std::string DigestOf(Explorer& explorer) {
    const auto verification = explorer.Verify(nullptr);
    EXPECT_OK(verification);
    if (!verification.ok()) return {};
    for (const TimelineDamage& damage : verification->timeline.damage) ADD_FAILURE() << damage.what;
    return verification->timeline.digest;
  }

  // What an import of these lines into an empty index leaves.
  std::string DigestOfLines(const std::vector<std::string>& lines) {
    const std::unique_ptr<Explorer> explorer = OpenIndex("_import");
    std::vector<Epoch> epochs;
    for (const std::string& line : lines) epochs.push_back(*ParseEpoch(line));
    for (std::span<const Epoch> rest(epochs); !rest.empty();) {
      const auto taken = explorer->Take(rest);
      EXPECT_OK(taken);
      if (!taken.ok()) return {};
      rest = rest.subspan(static_cast<size_t>(taken->taken));
    }
    return DigestOf(*explorer);
  }

  static SyncOptions UntilEpoch(int64_t epoch) {
    SyncOptions options;
    options.poll = std::chrono::milliseconds(1);
    options.patience = std::chrono::milliseconds(20'000);
    options.until = epoch;
    return options;
  }
};
INSTANTIATE_ON_STORES(SyncTest);

// A follower that has got the newest block by chance would otherwise wait for the node, and the node for the follower.
TEST(ChainNodeTest, APacedNodeGoesOnAlsoAfterALieThatWasTrue) {
  ChainNode node({.chain = {.seed = 3}, .faults = {.inconsistent_percent = 100}, .paced = true}, {});
  const std::string pivot = ParseEpoch(node.Lines().back())->pivot_hash;
  const std::string ask_block = StrCat(R"({"id":1,"method":"cfx_getBlockByHash","params":[")", pivot, R"(",true]})");
  const auto epochs_after_asking = [&] {
    node.Handle(R"({"id":1,"method":"cfx_epochNumber"})");
    return node.Lines().size();
  };
  ASSERT_EQ(epochs_after_asking(), 1u);
  int asked = 0;
  while (node.Handle(ask_block).body.find(StrCat(R"("hash":")", pivot)) == std::string::npos) ASSERT_LT(++asked, 1000);
  EXPECT_EQ(epochs_after_asking(), 2u);
}

TEST_P(SyncTest, CatchesUpOnce) {
  constexpr int kEpochs = test::Rounds(150, 60);
  RunningNode running({.chain = {.seed = 1}, .epochs_at_start = kEpochs});
  const std::unique_ptr<Explorer> explorer = OpenIndex("");
  NodeSource source({.rpc = running.Rpc()});
  SyncOptions options = UntilEpoch(0);
  options.until.reset();
  options.once = true;
  Sync sync(*explorer, source, options);
  ASSERT_OK(sync.Run());
  const SyncFigures figures = sync.figures();
  EXPECT_EQ(figures.tip.epoch, kEpochs - 1);
  EXPECT_EQ(figures.grown, kEpochs);
  EXPECT_EQ(figures.lag(), 0);
  EXPECT_EQ(figures.state, "ended");
  EXPECT_EQ(DigestOf(*explorer), DigestOfLines(running.node().Lines()));
}

TEST_P(SyncTest, FollowsEverySwitchInSpiteOfFaults) {
  constexpr int kEpochs = test::Rounds(120, 40);
  const uint64_t seed = test::Seed();
  RunningNode running({.chain = {.seed = seed, .switch_percent = 30, .transactions_max = 6},
                       .faults = {.slow_percent = 5, .slow_ms = 2, .error_percent = 5, .inconsistent_percent = 3},
                       .epochs_max = kEpochs,
                       .paced = true});
  const std::unique_ptr<Explorer> explorer = OpenIndex("");
  NodeSource source({.rpc = running.Rpc()});
  SyncOptions options = UntilEpoch(kEpochs - 1);
  options.parallel = 3;
  Sync sync(*explorer, source, options);
  ASSERT_OK(sync.Run());
  running.node().SetFaults({});
  // The last answers may have been wrong ones: once more without faults.
  ASSERT_OK(Sync(*explorer, source, options).Run());
  EXPECT_TRUE(running.node().state().ended);
  EXPECT_GE(sync.figures().switches, running.node().state().switches / 2);
  EXPECT_EQ(DigestOf(*explorer), DigestOfLines(running.node().Lines()));
}

// A pivot switch while nobody follows, and another process that goes on.
TEST_P(SyncTest, GoesOnAfterARestart) {
  RunningNode running({.chain = {.seed = 11, .switch_percent = 50}, .epochs_at_start = 40, .epochs_max = 80});
  SyncOptions options = UntilEpoch(0);
  options.until.reset();
  options.once = true;
  for (int round = 0; round < 10; ++round) {
    const std::unique_ptr<Explorer> explorer = OpenIndex("");
    NodeSource source({.rpc = running.Rpc()});
    ASSERT_OK(Sync(*explorer, source, options).Run());
    EXPECT_EQ(explorer->Tip()->epoch, running.node().state().epoch);
    running.node().Advance(4);
  }
  const std::unique_ptr<Explorer> explorer = OpenIndex("");
  NodeSource source({.rpc = running.Rpc()});
  ASSERT_OK(Sync(*explorer, source, options).Run());
  EXPECT_EQ(explorer->Tip()->epoch, 79);
  EXPECT_EQ(DigestOf(*explorer), DigestOfLines(running.node().Lines()));
}

TEST_P(SyncTest, ReceiptsWithTheirOwnEpoch) {
  RunningNode running({.chain = {.seed = 12, .receipts_after = 0}, .epochs_at_start = 30});
  const std::unique_ptr<Explorer> explorer = OpenIndex("");
  NodeSource source({.rpc = running.Rpc(), .receipts_after = 0});
  SyncOptions options = UntilEpoch(25);
  ASSERT_OK(Sync(*explorer, source, options).Run());
  std::vector<std::string> lines = running.node().Lines();
  lines.resize(26);  // the node has executed no more
  EXPECT_EQ(DigestOf(*explorer), DigestOfLines(lines));
}

TEST_P(SyncTest, ADeepSwitchStopsItAndChangesNothing) {
  RunningNode one({.chain = {.seed = 21, .switch_percent = 0}, .epochs_at_start = 30});
  // Another chain altogether: no depth is enough.
  RunningNode other({.chain = {.seed = 22, .switch_percent = 0}, .epochs_at_start = 40});
  const std::unique_ptr<Explorer> explorer = OpenIndex("");
  NodeSource source({.rpc = one.Rpc()});
  ASSERT_OK(Sync(*explorer, source, UntilEpoch(29)).Run());
  const At before = *explorer->Tip();
  NodeSource wrong({.rpc = other.Rpc()});
  SyncOptions options = UntilEpoch(39);
  Status status = Sync(*explorer, wrong, options).Run();
  EXPECT_EQ(status.code(), Code::kTimelineFork);
  EXPECT_THAT(std::string(status.message()), HasSubstr("have no epoch in common"));
  options.depth_max = 10;
  status = Sync(*explorer, wrong, options).Run();
  EXPECT_EQ(status.code(), Code::kTimelineFork);
  EXPECT_THAT(std::string(status.message()), HasSubstr("replaced more than 10 epochs below 29"));
  EXPECT_EQ(explorer->Tip()->pivot, before.pivot);
}

TEST_P(SyncTest, FiguresAreKeptForOthers) {
  EXPECT_FALSE(LoadSyncFigures(store_.clients(), store_.database())->has_value());
  SyncFigures figures{.node = "http://127.0.0.1:1/", .state = "catching up", .tip = {.epoch = 5, .pivot = "0x1"}};
  figures.node_epoch = 25;
  figures.epochs_per_second = 4;
  figures.updated_ms = 1'700'000'000'000;
  ASSERT_OK(StoreSyncFigures(store_.clients(), store_.database(), figures));
  figures.tip.epoch = 9;
  ASSERT_OK(StoreSyncFigures(store_.clients(), store_.database(), figures));
  const auto loaded = LoadSyncFigures(store_.clients(), store_.database());
  ASSERT_OK(loaded);
  ASSERT_TRUE(loaded->has_value());
  EXPECT_EQ((*loaded)->tip.epoch, 9);
  EXPECT_EQ((*loaded)->lag(), 16);
  EXPECT_EQ((*loaded)->seconds_left(), 4);
  EXPECT_EQ((*loaded)->updated_ms, figures.updated_ms);
  EXPECT_EQ(DescribeSync(**loaded), "epoch 9 of 25, 4.0 epochs/s, 0 transactions/s, 4 s left");
}

}  // namespace
}  // namespace braid::explorer::source
