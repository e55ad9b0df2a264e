// Appending: what is accepted, acknowledged again, refused; halts, repairs and shared records (C2, C4, C9).
#include "braid/chains.h"

#include <atomic>
#include <thread>

#include "client/fields.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

class ChainsTest : public ChainsStoreTest {};
INSTANTIATE_ON_STORES(ChainsTest);

TEST_P(ChainsTest, LinksRecordsAndRemembersTheHeads) {
  const auto chains = Open();
  const std::vector<ChainRecord> batch = {RecordOf(1, 1, "a"), RecordOf(2, 2, "b"), RecordOf(1, 5, "c")};
  const auto appended = chains->Append(batch);
  ASSERT_OK(appended);
  const ChainHash first = HashChainRecord({.chain = 1, .sequence = 1, .payload = "a"});
  const ChainHash second = HashChainRecord({.chain = 1, .sequence = 5, .prev_hash = first, .payload = "c"});
  EXPECT_EQ((*appended)[0].hash, first);
  EXPECT_EQ((*appended)[2].hash, second);
  store_.Restart();
  const auto reopened = Open();
  const auto heads = reopened->Heads();
  ASSERT_OK(heads);
  ASSERT_EQ(heads->size(), 2u);
  EXPECT_EQ((*heads)[0].sequence, 5);
  EXPECT_EQ((*heads)[0].hash, second);
  EXPECT_EQ((*heads)[0].records, 2);
  ASSERT_OK(AppendOne(*reopened, RecordOf(1, 6, "d")));
  EXPECT_EQ(Merged(*reopened), (std::vector<std::string>{"1@1 a", "2@2 b", "5@1 c", "6@1 d"}));
  EXPECT_EQ(Merged(*reopened, 3), (std::vector<std::string>{"5@1 c", "6@1 d"}));
  ExpectSound(*reopened);
}

TEST_P(ChainsTest, OneChainCanBeRead) {
  const auto chains = Open();
  const auto read = [&](int64_t chain, int64_t from, size_t most) {
    std::vector<std::string> records;
    EXPECT_OK(chains->Read(chain, from, [&](const ChainRecordView& record) -> Result<bool> {
      EXPECT_GT(record.created_at_ms, 0);
      records.push_back(StrCat(record.sequence, " ", record.payload));
      return records.size() < most;
    }));
    return records;
  };
  EXPECT_TRUE(read(1, 1, 9).empty());
  for (int64_t sequence = 1; sequence <= 100; ++sequence) {
    ASSERT_OK(AppendOne(*chains, RecordOf(1 + sequence % 2, sequence, "a")));
  }
  EXPECT_EQ(read(1, 1, 1000).size(), 50u);
  EXPECT_EQ(read(2, 98, 9), (std::vector<std::string>{"99 a"}));
  EXPECT_EQ(read(1, 50, 2), (std::vector<std::string>{"50 a", "52 a"}));
  EXPECT_TRUE(read(1, 101, 9).empty());
  const Status failed = chains->Read(1, 1, [](const ChainRecordView&) { return Status(Code::kInterrupted, "enough"); });
  EXPECT_EQ(failed.code(), Code::kInterrupted);
}

TEST_P(ChainsTest, AStoredRecordIsAcknowledgedAgain) {
  const auto chains = Open();
  const std::vector<ChainRecord> batch = {RecordOf(1, 1, "a"), RecordOf(1, 2, "b"), RecordOf(1, 2, "b")};
  const auto first = chains->Append(batch);
  ASSERT_OK(first);
  EXPECT_FALSE((*first)[1].duplicate);
  EXPECT_TRUE((*first)[2].duplicate);  // within one batch
  const auto second = Open()->Append(batch);
  ASSERT_OK(second);
  for (size_t i = 0; i < batch.size(); ++i) {
    EXPECT_OK((*second)[i].status);
    EXPECT_TRUE((*second)[i].duplicate);
    EXPECT_EQ((*second)[i].hash, (*first)[i].hash);
  }
  EXPECT_EQ(Merged(*chains).size(), 2u);
}

TEST_P(ChainsTest, GivenHashesAreVerified) {
  const auto chains = Open();
  ChainRecord record = RecordOf(1, 1, "a");
  record.prev_hash = kGenesis;
  record.hash = HashChainRecord({.chain = 1, .sequence = 1, .payload = "a"});
  ASSERT_OK(AppendOne(*chains, record));
  ChainRecord gap = RecordOf(1, 3, "c");
  gap.prev_hash = ChainHash{9};
  const Status status = AppendOne(*chains, gap);
  EXPECT_EQ(status.code(), Code::kChainBroken);
  EXPECT_NE(status.message().find("chain 1"), std::string::npos);
  EXPECT_NE(status.message().find(HexOf(*record.hash)), std::string::npos) << "expected: " << status.message();
  EXPECT_NE(status.message().find(HexOf(*gap.prev_hash)), std::string::npos) << "got: " << status.message();
  ChainRecord lie = RecordOf(2, 4, "d");
  lie.hash = ChainHash{1};
  EXPECT_EQ(AppendOne(*chains, lie).code(), Code::kChainBroken);
}

TEST_P(ChainsTest, ABreakHaltsThatChainAndNoOther) {
  auto chains = Open();
  const std::vector<ChainRecord> batch = {RecordOf(1, 2, "a"), RecordOf(1, 2, "fork"), RecordOf(1, 3, "past it"),
                                          RecordOf(2, 4, "other"), RecordOf(1, 2, "a")};
  const auto appended = chains->Append(batch);
  ASSERT_OK(appended);
  EXPECT_OK((*appended)[0].status);
  EXPECT_EQ((*appended)[1].status.code(), Code::kChainBroken);
  EXPECT_EQ((*appended)[2].status.code(), Code::kChainHalted);
  EXPECT_OK((*appended)[3].status);
  EXPECT_TRUE((*appended)[4].duplicate);  // what is stored is stored
  store_.Restart();
  chains = Open();  // a halt outlasts the process
  EXPECT_EQ(AppendOne(*chains, RecordOf(1, 5)).code(), Code::kChainHalted);
  EXPECT_OK(AppendOne(*chains, RecordOf(2, 6)));
  EXPECT_NE((*chains->Heads())[0].halted.find("expected the stored hash"), std::string::npos);
  ExpectSound(*chains);
}

TEST_P(ChainsTest, ASequenceThatWasPassedIsAFork) {
  const auto chains = Open();
  ASSERT_OK(AppendOne(*chains, RecordOf(1, 3)));
  ASSERT_OK(AppendOne(*chains, RecordOf(1, 7)));
  const Status status = AppendOne(*chains, RecordOf(1, 5));
  EXPECT_EQ(status.code(), Code::kChainBroken);
  EXPECT_EQ(status.message(), "chain 1: expected a sequence after 7, got 5, which the chain does not have");
}

TEST_P(ChainsTest, ARepairIsRecordedAndTheChainGoesOn) {
  const auto chains = Open();
  const auto other = Open();
  ASSERT_OK(AppendOne(*chains, RecordOf(1, 3)));
  ASSERT_OK(AppendOne(*other, RecordOf(1, 4)));
  ASSERT_EQ(AppendOne(*chains, RecordOf(1, 2)).code(), Code::kChainBroken);
  ASSERT_EQ(AppendOne(*other, RecordOf(1, 5)).code(), Code::kChainHalted);
  EXPECT_EQ(chains->Repair(1, {}).code(), Code::kBadValue);
  EXPECT_EQ(chains->Repair(9, {.by = "ann", .reason = "none"}).code(), Code::kRecordDamaged);
  ASSERT_OK(chains->Repair(1, {.by = "ann", .reason = "sent twice"}));
  EXPECT_EQ(chains->Repair(1, {.by = "ann", .reason = "again"}).code(), Code::kIllegalOperation);
  EXPECT_OK(AppendOne(*other, RecordOf(1, 5)));  // another process notices
  const auto repairs = Documents("log_repairs");
  ASSERT_EQ(repairs.size(), 1u);
  EXPECT_EQ(client::TextOf(repairs[0].get(), "by"), "ann");
  EXPECT_EQ(client::TextOf(repairs[0].get(), "reason"), "sent twice");
  EXPECT_EQ(client::TextOf(repairs[0].get(), "action"), "resume");
  EXPECT_EQ(client::IntegerOf(repairs[0].get(), "symbol_id"), 1);
  EXPECT_EQ(client::IntegerOf(repairs[0].get(), "before.seq"), 4);
  EXPECT_TRUE(client::DateOf(repairs[0].get(), "at").has_value());
  EXPECT_NE(client::TextOf(repairs[0].get(), "halted").find("got 2"), std::string_view::npos);
  ExpectSound(*chains);
}

TEST_P(ChainsTest, ALostHeadComesBackFromTheLog) {
  auto chains = Open();
  for (int64_t i = 1; i <= 5; ++i) ASSERT_OK(AppendOne(*chains, RecordOf(1, i)));
  const auto before = chains->Heads();
  Replace("log_heads", {});
  chains = Open();
  EXPECT_FALSE(chains->Verify({})->ok());
  ASSERT_OK(chains->Repair(1, {.action = RepairAction::kHeadFromLog, .by = "ann", .reason = "lost"}));
  ExpectSound(*chains);
  EXPECT_EQ((*chains->Heads())[0].hash, (*before)[0].hash);
  ASSERT_OK(AppendOne(*chains, RecordOf(1, 6)));
  ExpectSound(*chains);
}

// Without its head a chain would begin anew beside what it has.
TEST_P(ChainsTest, AChainWhoseHeadIsLostAcceptsNothing) {
  auto chains = Open();
  for (int64_t i = 1; i <= 5; ++i) ASSERT_OK(AppendOne(*chains, RecordOf(1, i)));
  Replace("log_heads", {});
  chains = Open();
  const Status refused = AppendOne(*chains, RecordOf(1, 6));
  EXPECT_EQ(refused.code(), Code::kChainHalted);
  EXPECT_NE(refused.message().find("the head was lost"), std::string_view::npos) << refused.message();
  const auto heads = chains->Heads();
  ASSERT_OK(heads);
  ASSERT_EQ(heads->size(), 1u);
  EXPECT_EQ(heads->front().halted, "the head was lost: it has to be taken from the log");
  EXPECT_OK(AppendOne(*chains, RecordOf(2, 7)));
  ASSERT_OK(chains->Repair(1, {.action = RepairAction::kHeadFromLog, .by = "ann", .reason = "lost"}));
  EXPECT_OK(AppendOne(*chains, RecordOf(1, 8)));
  ExpectSound(*chains);
}

// A head taken from a log that grows must not go back.
TEST_P(ChainsTest, AHeadIsNotTakenFromALogThatGrows) {
  const auto chains = Open();
  const auto writer = Open();
  int64_t sequence = 0;
  for (int i = 0; i < 20; ++i) ASSERT_OK(AppendOne(*writer, RecordOf(1, ++sequence)));
  std::atomic<bool> stop = false;
  std::thread growing([&] {
    while (!stop) ASSERT_OK(AppendOne(*writer, RecordOf(1, ++sequence)));
  });
  int refused = 0;
  for (int i = 0; i < 5000 && refused < 5; ++i) {
    const Status status =
        chains->Repair(1, {.action = RepairAction::kHeadFromLog, .by = "ann", .reason = "to be sure"});
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), Code::kConflictingOperationInProgress) << status.ToString();
    ++refused;
  }
  stop = true;
  growing.join();
  EXPECT_GT(refused, 0);
  EXPECT_EQ(Merged(*chains).size(), static_cast<size_t>(sequence));
  ExpectSound(*chains);
}

TEST_P(ChainsTest, SharedRecordsGoToAllOfTheirChainsOrToNone) {
  const auto chains = Open();
  ChainRecord shared = RecordOf(2, 5, "both");
  shared.also = {3, 1};
  ASSERT_OK(AppendOne(*chains, RecordOf(1, 1, "a")));
  ASSERT_OK(AppendOne(*chains, shared));
  EXPECT_EQ(Merged(*chains), (std::vector<std::string>{"1@1 a", "5@1 both"}));
  EXPECT_EQ(chains->Heads()->size(), 3u);
  const auto again = chains->Append({&shared, 1});
  ASSERT_OK(again);
  EXPECT_TRUE((*again)[0].duplicate);

  ASSERT_OK(AppendOne(*chains, RecordOf(1, 9, "b")));
  ASSERT_EQ(AppendOne(*chains, RecordOf(1, 8, "fork")).code(), Code::kChainBroken);
  shared.sequence = 10;
  EXPECT_EQ(AppendOne(*chains, shared).code(), Code::kChainHalted);  // chain 1 is halted, so 2 and 3 do not get it
  const auto heads = chains->Heads();
  EXPECT_EQ((*heads)[1].sequence, 5);
  EXPECT_EQ((*heads)[2].sequence, 5);
  EXPECT_EQ(AppendOne(*chains, RecordOf(2, 11, "alone")).code(), Code::kChainHalted);  // 10 has to come first
  ExpectSound(*chains);
}

TEST_P(ChainsTest, ASharedRecordThatBreaksOneChainIsStoredInNone) {
  const auto chains = Open();
  ASSERT_OK(AppendOne(*chains, RecordOf(1, 7)));
  ChainRecord shared = RecordOf(2, 6);
  shared.also = {1};
  EXPECT_EQ(AppendOne(*chains, shared).code(), Code::kChainBroken);
  EXPECT_EQ(chains->Heads()->size(), 1u);
  EXPECT_EQ(AppendOne(*chains, RecordOf(1, 8)).code(), Code::kChainHalted);
  EXPECT_OK(AppendOne(*chains, RecordOf(2, 8)));
}

TEST_P(ChainsTest, WhatIsNoRecordIsRefusedAndHaltsNothing) {
  const auto chains = Open();
  EXPECT_EQ(AppendOne(*chains, RecordOf(1, 0)).code(), Code::kBadValue);
  EXPECT_EQ(AppendOne(*chains, RecordOf(1, INT64_MAX)).code(), Code::kBadValue);
  EXPECT_OK(AppendOne(*chains, RecordOf(2, INT64_MAX - 1)));
  EXPECT_EQ(AppendOne(*chains, RecordOf(1, 1, std::string(Chains::kPayloadBytesMax + 1, 'x'))).code(), Code::kBadValue);
  ChainRecord twice = RecordOf(1, 1);
  twice.also = {2, 1};
  EXPECT_EQ(AppendOne(*chains, twice).code(), Code::kBadValue);
  EXPECT_OK(AppendOne(*chains, RecordOf(1, 1, std::string(Chains::kPayloadBytesMax, 'x'))));
  EXPECT_EQ(Chains::Open(store_.clients(), {}).status().code(), Code::kBadValue);
  ExpectSound(*chains);
}

TEST_P(ChainsTest, LargeBatchesBecomeSeveralSegments) {
  const auto chains = Open();
  Random random(test::Seed());
  std::vector<ChainRecord> batch;
  for (int64_t i = 1; i <= 20; ++i) {
    std::string payload(1 << 20, '\0');
    for (char& byte : payload) byte = static_cast<char>(random.Next());
    batch.push_back(RecordOf(1, i, std::move(payload)));
  }
  const auto appended = chains->Append(batch);
  ASSERT_OK(appended);
  EXPECT_GT(Documents("log").size(), 1u);
  ExpectSound(*chains);
  EXPECT_EQ(Merged(*chains).size(), 20u);
}

}  // namespace
}  // namespace braid::chains
