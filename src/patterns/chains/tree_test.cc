// The tree of a chain: the same as RFC 6962 gives over all hashes, whatever it was appended, read, lost and repaired
// by.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "braid/chains.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/merkle.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

using ::testing::HasSubstr;

TEST(ChainTreeTest, RootIsThatOfTheListAndNodesAreThoseOf256) {
  ChainTree tree;
  std::vector<ChainHash> hashes;
  std::vector<ChainTreeNode> nodes;
  EXPECT_EQ(tree.Root(), merkle::Root({}));
  for (int64_t i = 0; i < 1030; ++i) {
    hashes.push_back(merkle::Sha256(StrCat(i)));
    tree.Add(hashes.back(), 3 * i, nodes);
    const bool compared = i < 70 || i > 1000;
    ASSERT_TRUE(!compared || tree.Root() == merkle::Root(hashes)) << i;
    ASSERT_EQ(ChainTree::FromPeaks(i + 1, tree.Peaks()), tree);
    ASSERT_FALSE(ChainTree::FromPeaks(i + 1, tree.Peaks() + "x"));
  }
  ASSERT_EQ(nodes.size(), 4u);
  for (int64_t i = 0; i < 4; ++i) {
    const ChainHash root = merkle::Root(std::span(hashes).subspan(static_cast<size_t>(i) * 256, 256));
    EXPECT_EQ(nodes[static_cast<size_t>(i)], (ChainTreeNode{1, i, 3 * (256 * i + 255), root}));
  }
}

class ChainTreeStoreTest : public ChainsStoreTest {
 protected:
  /// Records of one chain with sequences 2, 4, 6 …, in batches; their hashes.
  static std::vector<ChainHash> Fill(Chains& chains, int64_t chain, int64_t count, int64_t from = 0) {
    constexpr int64_t kBatch = 700;
    std::vector<ChainHash> hashes;
    for (int64_t i = from; i < from + count; i += kBatch) {
      std::vector<ChainRecord> batch;
      for (int64_t j = i; j < std::min(i + kBatch, from + count); ++j) batch.push_back(RecordOf(chain, 2 * j + 2));
      const auto appended = chains.Append(batch);
      EXPECT_OK(appended);
      for (const Appended& each : *appended) hashes.push_back(each.hash);
    }
    return hashes;
  }
  static void ExpectPlace(Chains& chains, int64_t chain, const std::vector<ChainHash>& hashes, size_t index) {
    const auto place = chains.PlaceOf(chain, 2 * static_cast<int64_t>(index) + 2, static_cast<int64_t>(hashes.size()));
    ASSERT_OK(place);
    EXPECT_EQ(place->index, static_cast<int64_t>(index));
    EXPECT_EQ(place->hash, hashes[index]);
    EXPECT_EQ(place->path, merkle::Path(hashes, index)) << index << " of " << hashes.size();
  }
  std::string DamageOf(Chains& chains) {
    const auto report = chains.Verify({});
    EXPECT_OK(report);
    std::string text;
    for (const ChainDamage& damage : report->damage) text += StrCat(damage.sequence, ": ", damage.what, "\n");
    return text;
  }
  void TakeTreeFromHead() {
    const Client client = store_.clients().Acquire();
    client::Bson all;
    client::Bson field;
    client::Bson change;
    change.Document("$unset", field.Bool("tree", true));
    const auto heads = client::CollectionOf(client.get(), store_.database(), "log_heads");
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_update_many(heads.get(), all.get(), change.get(), nullptr, nullptr, &error));
  }
};
INSTANTIATE_ON_STORES(ChainTreeStoreTest);

TEST_P(ChainTreeStoreTest, EveryPlaceOfChainsOfManySizesHasItsPath) {
  const auto chains = Open();
  int64_t chain = 0;
  for (const int64_t count : {1, 2, 255, 256, 257, 513, 1100}) {
    const std::vector<ChainHash> hashes = Fill(*chains, ++chain, count);
    for (size_t i = 0; i<hashes.size(); i += hashes.size()> 300 ? 97 : 31) ExpectPlace(*chains, chain, hashes, i);
    ExpectPlace(*chains, chain, hashes, hashes.size() - 1);
    // In the tree as it was before the last records.
    for (const size_t earlier : {hashes.size() / 2 + 1, hashes.size() - hashes.size() / 4}) {
      const std::vector<ChainHash> then(hashes.begin(), hashes.begin() + static_cast<ptrdiff_t>(earlier));
      ExpectPlace(*chains, chain, then, earlier / 2);
      const auto root = chains->RootAt(chain, static_cast<int64_t>(earlier));
      ASSERT_OK(root);
      EXPECT_EQ(*root, merkle::Root(then));
    }
    EXPECT_EQ(chains->PlaceOf(chain, 1, count).status().code(), Code::kBadValue);
    EXPECT_EQ(chains->PlaceOf(chain, 2 * count + 2, count).status().code(), Code::kBadValue);
    EXPECT_EQ(chains->PlaceOf(chain, 2, count + 1).status().code(), Code::kBadValue);
  }
  const auto heads = chains->Heads();
  ASSERT_OK(heads);
  for (const ChainHead& head : *heads) EXPECT_EQ(head.tree->Root(), *chains->RootAt(head.chain, head.records));
  ExpectSound(*chains);
}

TEST_P(ChainTreeStoreTest, LevelsAboveTheFirstAreUsed) {
  const auto chains = Open();
  const std::vector<ChainHash> hashes = Fill(*chains, 1, 65'536 + 300);
  for (const size_t i : {0u, 256u, 40'000u, 65'535u, 65'536u, 65'835u}) ExpectPlace(*chains, 1, hashes, i);
  EXPECT_EQ(Documents("log_tree").size(), 257u + 1u);
  ExpectSound(*chains);
}

// Writers with and without leases meet at heads; the tree is that of what was committed.
TEST_P(ChainTreeStoreTest, WritersSideBySideMakeOneTree) {
  const auto first = Open();
  const auto second = Open();
  std::atomic<int64_t> next = 1;
  const auto write = [&](Chains& chains) {
    for (int64_t i = next++; i <= 40; i = next++) {
      std::vector<ChainRecord> batch;
      for (int64_t j = 0; j < 20; ++j) batch.push_back(RecordOf(1 + j % 2, 100 * i + j));
      ASSERT_OK(chains.Append(batch));  // those that came too late are refused, and halt a chain
      for (const int64_t chain : {1, 2})
        chains.Repair(chain, {.by = "test", .reason = "r"}).Ignore("may not be halted");
    }
  };
  std::thread other([&] { write(*second); });
  write(*first);
  other.join();
  ExpectSound(*first);
  const auto heads = first->Heads();
  ASSERT_OK(heads);
  for (const ChainHead& head : *heads) {
    std::vector<ChainHash> hashes;
    ASSERT_OK(first->Read(head.chain, 1, [&](const ChainRecordView& record) -> Result<bool> {
      hashes.push_back(record.hash);
      return true;
    }));
    ASSERT_TRUE(head.tree);
    EXPECT_EQ(head.tree->Root(), merkle::Root(hashes));
    EXPECT_EQ(head.tree->records(), static_cast<int64_t>(hashes.size()));
  }
}

TEST_P(ChainTreeStoreTest, AChangedOrLostNodeIsNamedAndMadeAnew) {
  const auto chains = Open();
  Fill(*chains, 1, 600);
  std::vector<client::BsonPtr> nodes = Documents("log_tree");
  ASSERT_EQ(nodes.size(), 2u);
  nodes.pop_back();
  Replace("log_tree", nodes);
  EXPECT_EQ(DamageOf(*chains), "1024: node 1 of level 1 of the tree is missing\n");
  EXPECT_EQ(chains->PlaceOf(1, 2, 600).status().code(), Code::kRecordDamaged);
  ASSERT_OK(chains->Repair(1, {.action = RepairAction::kTreeFromLog, .by = "ann", .reason = "lost"}));
  ExpectSound(*chains);
  ASSERT_OK(chains->PlaceOf(1, 2, 600));

  client::Bson forged;
  forged.Text("_id", "1:1:0000000000000000000").Integer("last_seq", 512).Binary("root", std::string(32, 'x'));
  client::Bson past;
  past.Text("_id", "1:1:0000000000000000007").Integer("last_seq", 9999).Binary("root", std::string(32, 'x'));
  nodes = Documents("log_tree");
  nodes[0].reset(bson_copy(forged.get()));
  nodes.emplace_back(bson_copy(past.get()));
  Replace("log_tree", nodes);
  const std::string damage = DamageOf(*chains);
  EXPECT_THAT(damage, HasSubstr("512: node 0 of level 1 of the tree: expected the root "));
  EXPECT_THAT(damage, HasSubstr("9999: node 7 of level 1 of the tree is over records that the chain does not have"));
  ASSERT_OK(chains->Repair(1, {.action = RepairAction::kTreeFromLog, .by = "ann", .reason = "changed"}));
  ExpectSound(*chains);
}

TEST_P(ChainTreeStoreTest, AChangedTreeInTheHeadIsNamed) {
  const auto chains = Open();
  Fill(*chains, 1, 3);
  client::Bson tree;
  tree.Integer("records", 3).Binary("peaks", std::string(64, 'x'));
  client::Bson fields;
  fields.Document("tree", tree);
  client::Bson change;
  change.Document("$set", fields);
  const client::Bson all;
  bson_error_t error{};
  {
    const Client client = store_.clients().Acquire();
    const auto heads = client::CollectionOf(client.get(), store_.database(), "log_heads");
    ASSERT_TRUE(mongoc_collection_update_many(heads.get(), all.get(), change.get(), nullptr, nullptr, &error));
  }
  EXPECT_THAT(DamageOf(*chains), HasSubstr("6: tree in the head: expected the root "));
  ASSERT_OK(chains->Repair(1, {.action = RepairAction::kTreeFromLog, .by = "ann", .reason = "changed"}));
  ExpectSound(*chains);
}

// Chains of a program that knew no trees: they continue without one until they are given one, also beside writers.
TEST_P(ChainTreeStoreTest, AnOldChainGoesOnAndIsGivenATree) {
  {
    const auto chains = Open();
    Fill(*chains, 1, 500);
    TakeTreeFromHead();
    Replace("log_tree", {});
  }
  const auto chains = Open();
  Fill(*chains, 1, 100, 500);
  EXPECT_FALSE(chains->Heads()->front().tree);
  EXPECT_TRUE(Documents("log_tree").empty());
  ExpectSound(*chains);
  const auto writer = Open();
  std::thread other([&] { Fill(*writer, 1, 3000, 600); });
  EXPECT_OK(chains->Repair(1, {.action = RepairAction::kTreeFromLog, .by = "ann", .reason = "old"}));
  other.join();
  Fill(*chains, 1, 200, 3600);
  const ChainHead head = chains->Heads()->front();
  ASSERT_TRUE(head.tree);
  EXPECT_EQ(head.tree->records(), 3800);
  ExpectSound(*chains);
  ASSERT_OK(chains->PlaceOf(1, 2, 3800));
}

TEST_P(ChainTreeStoreTest, AHeadFromTheLogHasItsTree) {
  auto chains = Open();
  const std::vector<ChainHash> hashes = Fill(*chains, 1, 300);
  Replace("log_heads", {});
  Replace("log_tree", {});
  chains = Open();
  ASSERT_OK(chains->Repair(1, {.action = RepairAction::kHeadFromLog, .by = "ann", .reason = "lost"}));
  ExpectSound(*chains);
  ExpectPlace(*chains, 1, hashes, 17);
  Fill(*chains, 1, 300, 300);
  ExpectSound(*chains);
}

}  // namespace
}  // namespace braid::chains
