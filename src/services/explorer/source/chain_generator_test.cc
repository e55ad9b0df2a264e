// The generated chain: repeatable, well formed, with switches, shared transactions and late receipts.
#include "services/explorer/source/chain_generator.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "services/explorer/epoch.h"

namespace braid::explorer::source {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> GeneratedLines(const ChainOptions& options, int steps) {
  ChainGenerator generator(options);
  std::vector<std::string> lines;
  for (int i = 0; i < steps; ++i) {
    for (const MadeLink& link : generator.Next().grown) lines.push_back(EpochLine(link));
  }
  return lines;
}

TEST(ChainGeneratorTest, TheSameSeedMakesTheSameChain) {
  const std::vector<std::string> lines = GeneratedLines({.seed = 7}, 60);
  EXPECT_EQ(lines, GeneratedLines({.seed = 7}, 60));
  EXPECT_NE(lines, GeneratedLines({.seed = 8}, 60));
}

// Applies the steps and checks what every chain must fulfil, against sets of its own.
TEST(ChainGeneratorTest, EveryStepLeavesAChain) {
  const ChainOptions options{.seed = test::Seed(), .first_epoch = 100, .switch_percent = 20, .shared_percent = 20};
  ChainGenerator generator(options);
  std::vector<EpochPtr> chain;
  int switches = 0;
  size_t shared = 0;
  for (int i = 0; i < 400; ++i) {
    const ChainGenerator::Step step = generator.Next();
    ASSERT_EQ(static_cast<int64_t>(step.grown.size()), step.popped + 1);
    ASSERT_LE(step.popped, options.switch_depth_max);
    ASSERT_LT(step.popped, static_cast<int64_t>(std::max<size_t>(chain.size(), 1)));
    switches += step.popped > 0 ? 1 : 0;
    chain.resize(chain.size() - static_cast<size_t>(step.popped));
    for (const MadeLink& link : step.grown) {
      const MadeEpoch& epoch = *link.epoch;
      ASSERT_EQ(epoch.number, 100 + static_cast<int64_t>(chain.size()));
      ASSERT_EQ(epoch.pivot().height, epoch.number);
      if (!chain.empty()) {
        ASSERT_EQ(epoch.pivot().parent, chain.back()->pivot().hash);
      }
      const EpochPtr executed = chain.size() >= 5 ? chain[chain.size() - 5] : nullptr;
      ASSERT_EQ(link.executed, executed);
      chain.push_back(link.epoch);
    }
  }
  EXPECT_EQ(chain.size(), 400u);
  EXPECT_GT(switches, 20);
  std::set<std::string> carried;
  for (const EpochPtr& epoch : chain) {
    std::set<std::string> first;
    for (const MadeBlock& block : epoch->blocks) {
      std::set<std::string> here;
      for (const TransactionPtr& transaction : block.transactions) {
        EXPECT_TRUE(here.insert(transaction->hash).second) << "a block carries a transaction twice";
        if (carried.insert(transaction->hash).second) {
          first.insert(transaction->hash);
        } else {
          ++shared;
        }
      }
    }
    std::set<std::string> receipts;
    for (const MadeReceipt& receipt : epoch->receipts) receipts.insert(receipt.transaction->hash);
    EXPECT_EQ(receipts, first) << "epoch " << epoch->number;
  }
  EXPECT_GT(shared, 100u);
}

TEST(ChainGeneratorTest, EveryLineCanBeParsed) {
  size_t receipts = 0;
  size_t created = 0;
  for (const std::string& line : GeneratedLines({.seed = test::Seed(), .switch_percent = 20}, 100)) {
    const Result<Epoch> epoch = ParseEpoch(line);
    ASSERT_OK(epoch);
    receipts += epoch->receipts.size();
    for (const EpochReceipt& receipt : epoch->receipts) created += receipt.contract_created.empty() ? 0 : 1;
  }
  EXPECT_GT(receipts, 100u);
  EXPECT_GT(created, 5u);
}

TEST(ChainGeneratorTest, OptionsOutOfRangeAreNamed) {
  ChainOptions options;
  options.switch_percent = 91;
  const Status status = options.Validate();
  EXPECT_EQ(status.code(), Code::kBadValue);
  EXPECT_EQ(status.message(), "switch_percent is 91, but must be 0 to 90");
}

TEST(RealTransactionsTest, ComeFirstAndEachOnce) {
  const test::TemporaryDirectory directory;
  const auto transaction = [](char digit, const char* to) {
    return StrCat(R"({"hash":"0x)", std::string(64, digit), R"(","from":"0x)", std::string(40, digit), R"(","to":)", to,
                  R"(,"input":"0x01","value":"0x0","gas":"0x1","gasPrice":"0x2","nonce":"0x3","v":"0x1"})");
  };
  const std::string to = StrCat("\"0x", std::string(40, 'e'), "\"");
  std::ofstream(directory.path() / "1.json")
      << R"({"transactions":[)" << transaction('a', to.c_str()) << "," << transaction('b', "null") << "]}";
  std::ofstream(directory.path() / "2.json") << R"({"transactions":[)" << transaction('a', to.c_str()) << "]}";
  const auto real = ReadRealTransactions(directory.path().string());
  ASSERT_OK(real);
  ASSERT_EQ(real->size(), 2u);
  EXPECT_EQ((*real)[0]->data, "0x01");
  EXPECT_EQ((*real)[1]->to, "");
  ChainGenerator generator({.seed = 3, .switch_percent = 0}, *real);
  std::string lines;
  while (generator.real_left() > 0) lines += EpochLine(generator.Next().grown[0]);
  EXPECT_THAT(lines, HasSubstr(std::string(64, 'a')));
  EXPECT_THAT(lines, HasSubstr(std::string(64, 'b')));
}

TEST(RealTransactionsTest, WhatIsNoBlockIsNamed) {
  const test::TemporaryDirectory directory;
  EXPECT_THAT(std::string(ReadRealTransactions(directory.path().string()).status().message()),
              HasSubstr("has no *.json.gz"));
  std::ofstream(directory.path() / "1.json") << "{}";
  EXPECT_THAT(std::string(ReadRealTransactions(directory.path().string()).status().message()),
              HasSubstr("1.json is not a block"));
}

}  // namespace
}  // namespace braid::explorer::source
