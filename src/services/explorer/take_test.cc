// Taking in epochs, case by case: what grows, what is skipped, what replaces others, what is refused and changes
// nothing.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "services/explorer/testing/fixture.h"

namespace braid::explorer::testkit {
namespace {

class TakeTest : public IndexTest {
 protected:
  /// An epoch with one block, the pivot, of the given name, on top of another.
  static EpochDraft Next(const EpochDraft& before, uint64_t name) {
    return {.number = before.number + 1, .parent = before.hash(), .blocks = {Block(name)}};
  }
  static BlockDraft Block(uint64_t name) {
    return {.hash = HashOf('b', name), .miner = AddressOf('m', name % 3), .difficulty = name, .timestamp = 1000 + name};
  }
  static TransactionDraft Pay(uint64_t name) {
    return {.hash = HashOf('t', name), .from = AddressOf('a', 1), .to = AddressOf('a', 2), .value = "0x1"};
  }
  /// Epochs 7, 8, …, `count` of them, each with a transaction of its own.
  static std::vector<EpochDraft> Chain(size_t count) {
    std::vector<EpochDraft> epochs{{.number = 7, .blocks = {Block(7)}}};
    while (epochs.size() < count) epochs.push_back(Next(epochs.back(), 7 + epochs.size()));
    for (EpochDraft& epoch : epochs) epoch.blocks[0].transactions = {Pay(static_cast<uint64_t>(epoch.number))};
    return epochs;
  }
  Explorer::Taken Take(const std::vector<EpochDraft>& drafts) {
    const std::vector<Epoch> epochs = Parsed(drafts);
    const auto taken = explorer_->Take(epochs);
    EXPECT_OK(taken);
    return taken.value_or(Explorer::Taken());
  }
};

TEST_P(TakeTest, GrowsSkipsAndReplaces) {
  const std::vector<EpochDraft> chain = Chain(5);
  Explorer::Taken taken = Take(chain);
  EXPECT_EQ(taken.taken, 5);
  EXPECT_EQ(taken.grown, 5);
  EXPECT_EQ(taken.tip.epoch, 11);
  EXPECT_EQ(taken.tip.pivot, chain.back().hash());
  ExpectIndexOf(chain);

  taken = Take(chain);
  EXPECT_EQ(taken.taken, 5);
  EXPECT_EQ(taken.skipped, 5);
  EXPECT_EQ(taken.grown + taken.popped, 0);
  ExpectIndexOf(chain);

  std::vector<EpochDraft> other(chain.begin(), chain.begin() + 3);
  other.push_back(Next(other.back(), 100));
  other.back().blocks[0].transactions = {Pay(11), Pay(9), Pay(200)};  // popped, still there, new
  taken = Take({other.back()});
  EXPECT_EQ(taken.grown, 1);
  EXPECT_EQ(taken.popped, 2);
  EXPECT_EQ(taken.tip.epoch, 10);
  ExpectIndexOf(other);

  // A → B → A, with what is stored in front.
  ASSERT_OK(TakeAll(chain));
  ExpectIndexOf(chain);
  VerifiedDigest(chain);
}

TEST_P(TakeTest, TheFirstEpochCanBeReplacedByASiblingOnly) {
  const std::vector<EpochDraft> chain = Chain(2);
  ASSERT_OK(TakeAll(chain));
  EpochDraft sibling = chain[0];
  sibling.blocks = {Block(50)};
  const Explorer::Taken taken = Take({sibling});
  EXPECT_EQ(taken.popped, 2);
  ExpectIndexOf({sibling});
  EpochDraft stranger = chain[0];
  stranger.parent = HashOf('p', 1);
  ExpectRefused({stranger}, Code::kTimelineFork, "epoch 7: its parent");
}

TEST_P(TakeTest, WhatDoesNotFitIsRefusedByNameAndChangesNothing) {
  const std::vector<EpochDraft> chain = Chain(4);
  ASSERT_OK(TakeAll(chain));
  EpochDraft next = Next(chain.back(), 100);

  EpochDraft gap = next;
  gap.number = 12;
  ExpectRefused({gap}, Code::kTimelineGap, "epoch 12: the newest epoch is 10, so 11 must come next");
  EpochDraft early = next;
  early.number = 6;
  ExpectRefused({early}, Code::kTimelineGap, "epoch 6: the chain begins with a later epoch");
  EpochDraft orphan = next;
  orphan.parent = HashOf('p', 9);
  ExpectRefused({orphan}, Code::kTimelineFork, StrCat("epoch 11: its parent ", HashOf('p', 9)));
  orphan.number = 9;
  ExpectRefused({orphan}, Code::kTimelineFork, StrCat("is not the pivot of epoch 8, which is ", chain[1].hash()));

  EpochDraft again = next;
  again.blocks.insert(again.blocks.begin(), chain[1].blocks[0]);
  ExpectRefused({again}, Code::kBadValue,
                StrCat("epoch 11, blocks[0].hash: ", chain[1].hash(), " is a block of epoch 8"));
  EpochDraft unknown = next;
  unknown.receipts = {{.transaction = HashOf('t', 999)}};
  ExpectRefused({unknown}, Code::kBadValue,
                StrCat("epoch 11, receipts: ", HashOf('t', 999), " is not a transaction of this epoch"));

  // The same, of epochs that would replace others: these are not popped in vain.
  EpochDraft fork = Next(chain[1], 200);
  fork.receipts = {{.transaction = HashOf('t', 10)}};  // of an epoch that would be gone
  ExpectRefused({fork}, Code::kBadValue, StrCat("epoch 9, receipts: ", HashOf('t', 10)));
  fork.receipts.clear();
  fork.blocks.insert(fork.blocks.begin(), chain[0].blocks[0]);
  ExpectRefused({fork}, Code::kBadValue, "epoch 9, blocks[0].hash");
  fork.blocks[0] = chain[3].blocks[0];  // of an epoch that would be gone: fits
  ASSERT_OK(TakeAll({fork}));
  ExpectIndexOf({chain[0], chain[1], fork});
}

TEST_P(TakeTest, WhatComesBeforeABadEpochIsStored) {
  std::vector<EpochDraft> chain = Chain(5);
  std::vector<EpochDraft> given = chain;
  given[3].receipts = {{.transaction = HashOf('t', 999)}};
  const Explorer::Taken taken = Take(given);
  EXPECT_EQ(taken.taken, 3);
  EXPECT_EQ(taken.tip.epoch, 9);
  chain.resize(3);
  ExpectIndexOf(chain);
  ExpectRefused({given.begin() + 3, given.end()}, Code::kBadValue, "epoch 10, receipts");
  // Skipped ones count, too.
  EXPECT_EQ(Take(given).skipped, 3);
}

TEST_P(TakeTest, ABlockOfAnotherEpochOfTheSameCallIsRefused) {
  std::vector<EpochDraft> chain = Chain(3);
  chain[2].blocks.insert(chain[2].blocks.begin(), chain[0].blocks[0]);
  EXPECT_EQ(Take(chain).taken, 2);
  ExpectRefused({chain[2]}, Code::kBadValue, "is a block of epoch 7");
}

TEST_P(TakeTest, ATransactionOfSeveralBlocksIsListedOnce) {
  std::vector<EpochDraft> chain = Chain(3);
  BlockDraft side = Block(300);
  side.transactions = {Pay(7), Pay(9), Pay(400)};  // of an earlier epoch, of the pivot after it, its own
  chain[2].blocks.insert(chain[2].blocks.begin(), side);
  ASSERT_OK(TakeAll(chain));
  ExpectIndexOf(chain);
  VerifiedDigest(chain);
  EXPECT_EQ(Everything().at(kTransactions).size(), 4u);
}

TEST_P(TakeTest, AccountsAreListedOncePerTransaction) {
  std::vector<EpochDraft> chain = Chain(1);
  const std::string a = AddressOf('a', 1);
  const std::string c = AddressOf('c', 1);
  auto& transactions = chain[0].blocks[0].transactions;
  transactions = {{.hash = HashOf('t', 1), .from = a, .to = a},
                  {.hash = HashOf('t', 2), .from = a, .created = c},
                  {.hash = HashOf('t', 3), .from = a, .to = c, .created = c},
                  {.hash = HashOf('t', 4), .from = a},
                  {.hash = HashOf('t', 5), .from = a, .created = c}};
  chain[0].receipts = {{.transaction = HashOf('t', 4), .created = c},
                       // Never replaces what the transaction itself says.
                       {.transaction = HashOf('t', 5), .created = AddressOf('c', 2)}};
  ASSERT_OK(TakeAll(chain));
  ExpectIndexOf(chain);
  VerifiedDigest(chain);
  std::map<std::string, int> types;
  const Contents found = Everything();
  for (const auto& [id, json] : found.at(kAccountTransactions)) {
    for (const char* type : {"sender", "receiver", "created"}) types[type] += json.find(type) != std::string::npos;
  }
  EXPECT_EQ(types, (std::map<std::string, int>{{"sender", 5}, {"receiver", 1}, {"created", 3}}));
}

TEST_P(TakeTest, ReceiptsThatComeLaterAddToTheirOwnEpoch) {
  std::vector<EpochDraft> chain = Chain(5);
  const std::string c = AddressOf('c', 1);
  chain[0].blocks[0].transactions = {{.hash = HashOf('t', 1), .from = AddressOf('a', 1)},
                                     {.hash = HashOf('t', 2), .from = AddressOf('a', 1), .created = c}};
  chain[1].receipts = {{.transaction = HashOf('t', 1), .created = c}};
  chain[2].receipts = {{.transaction = HashOf('t', 1), .created = c, .status = "0x1"},  // again: listed already
                       {.transaction = HashOf('t', 2), .created = AddressOf('c', 2)}};  // has one of its own
  chain[3].receipts = {{.transaction = HashOf('t', 1), .created = AddressOf('a', 1)},   // the sender
                       {.transaction = HashOf('t', 10), .created = AddressOf('c', 5)}};
  chain[4].receipts = {{.transaction = HashOf('t', 1), .created = AddressOf('c', 3)},
                       {.transaction = HashOf('t', 10), .created = AddressOf('c', 5)}};
  ASSERT_OK(TakeAll(chain));
  ExpectIndexOf(chain);
  const std::string together = VerifiedDigest(chain);

  // Pops take them away one by one; one at a time they come again.
  std::vector<EpochDraft> left = chain;
  while (left.size() > 1) {
    ASSERT_OK(explorer_->Pop(1));
    left.pop_back();
    ExpectIndexOf(left);
  }
  for (size_t i = 1; i < chain.size(); ++i) ASSERT_OK(TakeAll({chain[i]}));
  EXPECT_EQ(VerifiedDigest(chain), together);
}

TEST_P(TakeTest, PopNeedsAsManyEpochs) {
  ASSERT_OK(TakeAll(Chain(3)));
  EXPECT_EQ(explorer_->Pop(4).status().code(), Code::kBadValue);
  EXPECT_EQ(explorer_->Pop(-1).status().code(), Code::kBadValue);
  ExpectIndexOf(Chain(3));
  EXPECT_EQ(explorer_->Pop(0)->epoch, 9);
  EXPECT_EQ(explorer_->Pop(2)->epoch, 7);
  EXPECT_EQ(explorer_->Pop(1)->epoch, -1);
  EXPECT_EQ(explorer_->Pop(1).status().code(), Code::kBadValue);
  ExpectIndexOf({});
}

TEST_P(TakeTest, FinalEpochsAreNotReplaced) {
  Reopen({.history_epochs = 2});
  const std::vector<EpochDraft> chain = Chain(5);
  ASSERT_OK(TakeAll(chain));
  ExpectRefused({Next(chain[1], 100)}, Code::kTimelineFinal, "");
  EXPECT_EQ(explorer_->Pop(3).status().code(), Code::kTimelineFinal);
  ASSERT_OK(TakeAll({Next(chain[2], 100)}));
}

TEST_P(TakeTest, RowsOfALargeBlock) {
  std::vector<EpochDraft> chain = Chain(1);
  chain[0].blocks[0].transactions.clear();
  for (uint64_t i = 0; i < 250; ++i) {
    chain[0].blocks[0].transactions.push_back(
        {.hash = HashOf('t', i), .from = AddressOf('a', i % 7), .to = AddressOf('a', i % 5), .value = HexText(i)});
  }
  ASSERT_OK(TakeAll(chain));
  ExpectIndexOf(chain);
  VerifiedDigest(chain);
  EXPECT_EQ(Everything().at(kBlockTransactions).size(), 3u);
}

TEST_P(TakeTest, SumsBeyond64Bits) {
  std::vector<EpochDraft> chain = Chain(4);
  for (EpochDraft& epoch : chain) epoch.blocks[0].difficulty = (Big{1} << 100) + static_cast<Big>(epoch.number);
  ASSERT_OK(TakeAll(chain));
  ExpectIndexOf(chain);
}

// Each of them sees what the others did, and skips it.
TEST_P(TakeTest, SeveralThatTakeTheSameChainMakeItOnce) {
  const std::vector<EpochDraft> chain = Chain(40);
  std::vector<std::thread> threads;
  std::atomic<int64_t> grown = 0;
  for (size_t start = 0; start < 3; ++start) {
    threads.emplace_back([this, &chain, &grown, start] {
      const std::vector<Epoch> epochs = Parsed(chain);
      std::span<const Epoch> rest(epochs);
      while (!rest.empty()) {
        const auto taken = explorer_->Take(rest.first(std::min(rest.size(), 1 + start)));
        ASSERT_OK(taken);
        grown += taken->grown;
        rest = rest.subspan(static_cast<size_t>(taken->taken));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(grown, 40);
  ExpectIndexOf(chain);
  VerifiedDigest(chain);
}

INSTANTIATE_ON_STORES(TakeTest);

}  // namespace
}  // namespace braid::explorer::testkit
