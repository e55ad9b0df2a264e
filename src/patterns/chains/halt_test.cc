// What a held-back record holds back, and how its chains go on: with the record, or without it if somebody says so.
#include <gmock/gmock.h>

#include "client/fields.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

using ::testing::HasSubstr;

ChainRecord Shared(std::vector<int64_t> chains, int64_t sequence) {
  ChainRecord record = RecordOf(chains.front(), sequence, "shared");
  record.also.assign(chains.begin() + 1, chains.end());
  return record;
}

ChainRecord Refused(int64_t chain, int64_t sequence, std::string why = "no status") {
  ChainRecord record = RecordOf(chain, sequence, "");
  record.refused = std::move(why);
  return record;
}

class ChainHaltTest : public ChainsStoreTest {
 protected:
  void SetUp() override { chains_ = Open(); }
  Code Append(const ChainRecord& record) { return AppendOne(*chains_, record).code(); }
  ChainHead HeadOf(int64_t chain) {
    const auto heads = chains_->Heads();
    EXPECT_OK(heads);
    for (const ChainHead& head : *heads) {
      if (head.chain == chain) return head;
    }
    return {};
  }
  Status Repair(int64_t chain, RepairAction action = RepairAction::kResume) {
    return chains_->Repair(chain, {.action = action, .by = "ann", .reason = "a test"});
  }
  // Chain 1 is broken by record 3; 4 is of the chains 1 and 2.
  void BreakBeforeShared() {
    ChainRecord wrong = RecordOf(1, 3);
    wrong.prev_hash = ChainHash{0xee};
    ASSERT_EQ(Append(RecordOf(1, 1)), Code::kOk);
    ASSERT_EQ(Append(RecordOf(2, 2)), Code::kOk);
    ASSERT_EQ(Append(wrong), Code::kChainBroken);
    ASSERT_EQ(Append(Shared({1, 2}, 4)), Code::kChainHalted);
  }

  std::unique_ptr<Chains> chains_;
};
INSTANTIATE_ON_STORES(ChainHaltTest);

TEST_P(ChainHaltTest, ASharedRecordThatIsHeldBackHoldsBackBothOfItsChains) {
  BreakBeforeShared();
  EXPECT_EQ(Append(RecordOf(2, 5)), Code::kChainHalted);
  const ChainHead waiting = HeadOf(2);
  EXPECT_FALSE(waiting.broken);
  ASSERT_EQ(waiting.awaits.size(), 1u);
  EXPECT_EQ(waiting.awaits[0].sequence, 4);
  EXPECT_EQ(waiting.awaits[0].held_by, 1);
  // Only the chain that is broken is repaired; the other one goes on with the record.
  ASSERT_OK(Repair(1));
  EXPECT_EQ(Append(RecordOf(1, 6)), Code::kChainHalted);  // 4 would be impossible after it
  for (const ChainRecord& record : {RecordOf(1, 3), Shared({1, 2}, 4), RecordOf(2, 5), RecordOf(1, 6)}) {
    EXPECT_EQ(Append(record), Code::kOk) << record.sequence;
  }
  for (const int64_t chain : {1, 2}) EXPECT_TRUE(HeadOf(chain).halted.empty());
  ExpectSound(*chains_);
}

TEST_P(ChainHaltTest, WhatWaitsForAWaitingChainNamesTheOneToRepairFirst) {
  BreakBeforeShared();
  EXPECT_EQ(Append(Shared({2, 3}, 5)), Code::kChainHalted);
  EXPECT_EQ(Append(RecordOf(3, 6)), Code::kChainHalted);
  EXPECT_EQ(HeadOf(3).awaits[0].held_by, 1);
  const Status early = Repair(3);
  EXPECT_EQ(early.code(), Code::kIllegalOperation);
  EXPECT_THAT(early.ToString(), HasSubstr("chain 1 has to be repaired first"));
  ASSERT_OK(Repair(1));
  EXPECT_EQ(Append(Shared({1, 2}, 4)), Code::kOk);
  EXPECT_EQ(Append(RecordOf(2, 7)), Code::kChainHalted);  // 5 is not there yet
  EXPECT_EQ(Append(Shared({2, 3}, 5)), Code::kOk);
  EXPECT_EQ(Append(RecordOf(3, 6)), Code::kOk);
  EXPECT_EQ(Append(RecordOf(2, 7)), Code::kOk);
}

TEST_P(ChainHaltTest, ARefusedRecordIsAwaitedUntilItIsCorrected) {
  ASSERT_EQ(Append(RecordOf(1, 1)), Code::kOk);
  EXPECT_EQ(Append(Refused(1, 2)), Code::kBadValue);
  EXPECT_EQ(Append(Refused(1, 3, "no asset")), Code::kBadValue);
  EXPECT_EQ(Append(RecordOf(1, 4)), Code::kChainHalted);
  EXPECT_EQ(Append(RecordOf(2, 5)), Code::kOk);
  EXPECT_THAT(HeadOf(1).halted, HasSubstr("sequence 2 was refused: no status"));
  chains_ = Open();  // another process finds it so
  EXPECT_EQ(Append(RecordOf(1, 4)), Code::kChainHalted);
  EXPECT_EQ(Append(RecordOf(1, 2)), Code::kOk);
  EXPECT_EQ(Append(RecordOf(1, 4)), Code::kChainHalted);
  EXPECT_THAT(HeadOf(1).halted, HasSubstr("sequence 3 was refused: no asset"));
  EXPECT_EQ(Append(RecordOf(1, 3)), Code::kOk);
  EXPECT_EQ(Append(RecordOf(1, 4)), Code::kOk);
  // Again what was refused at first: the chain has passed it, and nothing is to be awaited.
  EXPECT_EQ(Append(Refused(1, 2)), Code::kBadValue);
  EXPECT_TRUE(HeadOf(1).halted.empty());
}

TEST_P(ChainHaltTest, AnAwaitedRecordIsGivenUpOnlyByName) {
  ASSERT_EQ(Append(RecordOf(1, 1)), Code::kOk);
  EXPECT_EQ(Append(Refused(1, 2)), Code::kBadValue);
  EXPECT_EQ(Repair(1).code(), Code::kIllegalOperation);
  EXPECT_EQ(Append(RecordOf(1, 3)), Code::kChainHalted);
  ASSERT_OK(Repair(1, RepairAction::kSkip));
  EXPECT_EQ(Append(RecordOf(1, 3)), Code::kOk);
  const auto repairs = Documents("log_repairs");
  ASSERT_EQ(repairs.size(), 1u);
  EXPECT_EQ(client::TextOf(repairs[0].get(), "action"), "skip");
  EXPECT_EQ(client::IntegerOf(repairs[0].get(), "skipped.0"), 2);
}

// One batch: the order of the records decides, as if each had come alone.
TEST_P(ChainHaltTest, HoldsWithinOneBatch) {
  const ChainRecord records[] = {RecordOf(1, 1), Refused(1, 3),  RecordOf(1, 2),
                                 RecordOf(1, 4), RecordOf(1, 3), RecordOf(1, 4)};
  const auto appended = chains_->Append(records);
  ASSERT_OK(appended);
  const Code expected[] = {Code::kOk, Code::kBadValue, Code::kOk, Code::kChainHalted, Code::kOk, Code::kOk};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ((*appended)[i].status.code(), expected[i]) << i;
  EXPECT_TRUE(HeadOf(1).halted.empty());
}

}  // namespace
}  // namespace braid::chains
