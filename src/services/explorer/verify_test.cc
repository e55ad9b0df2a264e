// Damage of every kind, done behind the explorer's back: Verify() names the document, whatever the digest says.
#include <gmock/gmock.h>

#include "services/explorer/testing/fixture.h"

namespace braid::explorer::testkit {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class VerifyTest : public IndexTest {
 protected:
  static constexpr char kBlock[] = "0x6200000000000000000000000000000000000000000000000000000000000002";
  static constexpr char kOne[] = "0x7400000000000000000000000000000000000000000000000000000000000002";

  void SetUp() override {
    IndexTest::SetUp();
    EpochDraft first{.number = 1};
    first.blocks.push_back({.hash = HashOf('b', 1), .miner = AddressOf('m', 1), .difficulty = 5});
    first.blocks[0].transactions.push_back({.hash = HashOf('t', 1), .from = AddressOf('a', 1)});
    EpochDraft second{.number = 2, .parent = first.hash()};
    second.blocks.push_back({.hash = HashOf('b', 2), .miner = AddressOf('m', 2), .difficulty = 6});
    second.blocks.push_back({.hash = HashOf('b', 3), .miner = AddressOf('m', 1), .difficulty = 7});
    second.blocks[0].transactions = first.blocks[0].transactions;
    second.blocks[0].transactions.push_back(
        {.hash = HashOf('t', 2), .from = AddressOf('a', 1), .to = AddressOf('a', 2), .value = "0x5"});
    second.receipts = {{.transaction = HashOf('t', 1), .created = AddressOf('c', 1)}};
    chain_ = {first, second};
    ASSERT_OK(TakeAll(chain_));
  }

  void Run(const std::string& json) {
    const auto command = client::ParseJson(json);
    ASSERT_OK(command);
    const auto reply = client::RunCommand(store_.clients().Acquire().get(), store_.database().c_str(), command->get());
    ASSERT_OK(reply);
    EXPECT_EQ(client::IntegerOf(reply->get(), "n"), 1) << json;
  }
  void Change(const char* collection, const std::string& id, const std::string& change) {
    Run(StrCat(R"({"update":")", collection, R"(","updates":[{"q":{"_id":)", id, R"(},"u":)", change, "}]}"));
  }
  void Remove(const char* collection, const std::string& id) {
    Run(StrCat(R"({"delete":")", collection, R"(","deletes":[{"q":{"_id":)", id, R"(},"limit":1}]})"));
  }
  void Insert(const char* collection, const std::string& document) {
    Run(StrCat(R"({"insert":")", collection, R"(","documents":[)", document, "]}"));
  }

  std::vector<std::string> Damage() {
    const auto verification = explorer_->Verify(nullptr);
    EXPECT_OK(verification);
    std::vector<std::string> damage;
    if (!verification.ok()) return damage;
    EXPECT_FALSE(verification->timeline.ok());
    for (const TimelineDamage& one : verification->timeline.damage) damage.push_back(StrCat(one.epoch, " ", one.what));
    return damage;
  }

  std::vector<EpochDraft> chain_;
};

TEST_P(VerifyTest, FindsNothingWhereNothingIs) {
  VerifiedDigest(chain_);
  ASSERT_OK(explorer_->Pop(2));
  VerifiedDigest({});
}

TEST_P(VerifyTest, NamesABlockThatSaysSomethingElse) {
  Change(kBlocks, Quoted(kBlock), R"({"$set":{"newTransactionCount":"0x2"}})");
  EXPECT_THAT(Damage(), Contains(StrCat("2 blocks ", kBlock, ": newTransactionCount is 0x2, not 0x1")));
}
TEST_P(VerifyTest, NamesABlockWithAnotherScore) {
  Change(kBlocks, Quoted(kBlock), R"({"$set":{"score":{"$numberLong":"9"}}})");
  EXPECT_THAT(Damage(), Contains(HasSubstr(StrCat("2 blocks ", kBlock, ": "))));
}
TEST_P(VerifyTest, NamesTheListsOfABlockWithAnotherDifficulty) {
  Change(kBlocks, Quoted(kBlock), R"({"$set":{"difficulty":"0x60"}})");
  const std::vector<std::string> damage = Damage();
  EXPECT_THAT(damage, Contains("2 blocks_in_order 1: is not what the blocks of the epoch say"));
  EXPECT_THAT(damage, Contains(StrCat("2 miner_blocks ", AddressOf('m', 2),
                                      ":000000000001: is not what the blocks of the epoch say")));
}
TEST_P(VerifyTest, NamesABlockWhoseDifficultyIsNoNumber) {
  Change(kBlocks, Quoted(kBlock), R"({"$set":{"difficulty":"0x6z"}})");
  EXPECT_THAT(Damage(), Contains(StrCat("2 blocks ", kBlock, ": has no miner, difficulty or timestamp")));
}
TEST_P(VerifyTest, NamesASumThatIsNotTheRecount) {
  Change(kBlocksInOrder, "2", R"({"$set":{"sums.difficulty":"19"}})");
  EXPECT_THAT(Damage(), Contains("2 blocks_in_order 2: is not what the blocks of the epoch say"));
}
TEST_P(VerifyTest, NamesATransactionWithAnotherScore) {
  Change(kTransactions, Quoted(kOne), R"({"$set":{"score":{"$numberLong":"5"}}})");
  EXPECT_THAT(Damage(), Contains(StrCat("2 transactions ", kOne, ": its score is 5, not 1")));
}
TEST_P(VerifyTest, NamesATransactionWithAnotherFirstBlock) {
  Change(kTransactions, Quoted(kOne), R"({"$set":{"firstBlockHash":"0x1"}})");
  EXPECT_THAT(Damage(), Contains(HasSubstr(StrCat("2 transactions ", kOne, ": its first block is ", kBlock))));
}
TEST_P(VerifyTest, NamesATransactionThatIsMissing) {
  Remove(kTransactions, Quoted(kOne));
  const std::vector<std::string> damage = Damage();
  EXPECT_THAT(damage, Contains(StrCat("2 block_transactions ", kBlock, ": the transaction ", kOne, " is not there")));
  EXPECT_THAT(damage, Contains(StrCat("2 account_transactions ", AddressOf('a', 2),
                                      ":000000000001: nothing of the epoch accounts for it")));
}
TEST_P(VerifyTest, NamesATransactionThatNoBlockCarries) {
  Insert(kTransactions, R"({"_id":"0x7","score":2,"epoch":{"$numberLong":"2"}})");
  EXPECT_THAT(Damage(), Contains("2 transactions 0x7: no block of its epoch carries it"));
}
TEST_P(VerifyTest, NamesRowsThatAreMissing) {
  Remove(kBlockTransactions, Quoted(StrCat(kBlock, ":000000")));
  EXPECT_THAT(Damage(), Contains(StrCat("2 blocks ", kBlock, ": transactionCount is 0x2, not 0x0")));
}
TEST_P(VerifyTest, NamesARowThatSaysSomethingElse) {
  Change(kBlockTransactions, Quoted(StrCat(kBlock, ":000000")), R"({"$set":{"transactions.1.value":"0x6"}})");
  EXPECT_THAT(Damage(), Contains(StrCat("2 block_transactions ", kBlock, ": value of ", kOne,
                                        " is not that of the transaction")));
}
TEST_P(VerifyTest, NamesAnAccountEntryThatIsMissing) {
  Remove(kAccountTransactions, OwnedIdJson(AddressOf('a', 2), "000000000001"));
  EXPECT_THAT(Damage(), Contains(StrCat("2 account_transactions ", AddressOf('a', 2), ":000000000001: is missing")));
}
TEST_P(VerifyTest, NamesTheEntryOfALateReceipt) {
  Change(kAccountTransactions, OwnedIdJson(AddressOf('c', 1), "000000000000"), R"({"$set":{"type":"sender"}})");
  EXPECT_THAT(Damage(), Contains(StrCat("2 account_transactions ", AddressOf('c', 1),
                                        ":000000000000: is not what the blocks of the epoch say")));
}
TEST_P(VerifyTest, NamesAReceiptOfNothing) {
  Change(kTransactions, Quoted(HashOf('t', 1)), R"({"$set":{"epoch":{"$numberLong":"2"}}})");
  EXPECT_THAT(Damage(), Contains(StrCat("2 receipts ", HashOf('t', 1),
                                        "@2: is not the receipt of a transaction of an earlier epoch")));
}
TEST_P(VerifyTest, NamesAMinerThatIsMissingOrTooMuch) {
  Remove(kMiners, Quoted(AddressOf('m', 2)));
  Insert(kMiners, R"({"_id":"0x9","block":"0x1","score":1,"epoch":{"$numberLong":"2"}})");
  const std::vector<std::string> damage = Damage();
  EXPECT_THAT(damage, Contains(StrCat("2 miners ", AddressOf('m', 2), ": is missing")));
  EXPECT_THAT(damage, Contains("2 miners 0x9: nothing of the epoch accounts for it"));
}
TEST_P(VerifyTest, NamesABlockThatIsMissing) {
  Remove(kBlocks, Quoted(HashOf('b', 3)));
  EXPECT_THAT(Damage(),
              Contains(StrCat("2 blocks ", kBlock, ": is the last block, but the pivot is ", HashOf('b', 3))));
}

INSTANTIATE_ON_STORES(VerifyTest);

}  // namespace
}  // namespace braid::explorer::testkit
