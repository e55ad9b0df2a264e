// Checkpoints and proofs over a real log (C2, C5).
#include "services/settlement/history.h"

#include <gmock/gmock.h>

#include "client/handles.h"
#include "services/settlement/checkpoints.h"
#include "services/settlement/testing.h"

namespace braid::settlement {
namespace {

using ::testing::HasSubstr;

class HistoryTest : public SettlementStoreTest {
 protected:
  void Drop(const std::string& collection) {
    const Client client = store_.clients().Acquire();
    const client::Bson all;
    bson_error_t error;
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    ASSERT_TRUE(mongoc_collection_delete_many(handle.get(), all.get(), nullptr, nullptr, &error)) << error.message;
  }
  const SigningKey key_ = SigningKey::Generate();
};
INSTANTIATE_ON_STORES(HistoryTest);

TEST_P(HistoryTest, ARewrittenHistoryVerifiesButDoesNotFitTheCheckpoint) {
  const ChainsOptions options = TestOptions().ToChains();
  std::vector<std::string> lines = Generated(300, {.symbols = 3});
  Checkpoint checkpoint;
  {
    const auto settlement = Open();
    Ingest(*settlement, lines);
    checkpoint = *SignHeads(settlement->chains(), key_, 1'700'000'000'000);
    Ingest(*settlement, {ToJson(OutputOf(2, 301))});
    const auto same = CompareWith(store_.clients(), options, checkpoint, key_.public_key());
    ASSERT_OK(same);
    EXPECT_TRUE(same->empty());
  }
  // The same outputs but one, chained anew: all hashes are right, and from there on others.
  for (const char* collection : {"engine_output_log", "engine_output_log_heads"}) Drop(collection);
  const auto settlement = Open();
  lines[0].insert(lines[0].find("\"input\":{") + 9, "\"_forged\":1,");
  const auto answers = Ingest(*settlement, lines);
  EXPECT_EQ(Count(answers)[Outcome::kAccepted], lines.size());
  ExpectSound(settlement->chains());
  const auto changed = CompareWith(store_.clients(), options, checkpoint, key_.public_key());
  ASSERT_OK(changed);
  ASSERT_EQ(changed->size(), 1u);
  EXPECT_EQ(changed->front().chain, answers.at(1).symbol_id);
  EXPECT_THAT(changed->front().what, HasSubstr("history was changed after the checkpoint: expected hash "));
  EXPECT_FALSE(CompareWith(store_.clients(), options, checkpoint, SigningKey::Generate().public_key()).ok());
}

TEST_P(HistoryTest, EveryRecordCanBeProven) {
  const ChainsOptions options = TestOptions().ToChains();
  const std::vector<std::string> lines = Generated(200, {.symbols = 3, .cross_percent = 30});
  const auto settlement = Open();
  const auto answers = Ingest(*settlement, lines);
  const auto checkpoint = SignHeads(settlement->chains(), key_, 1'700'000'000'000);
  ASSERT_OK(checkpoint);
  ASSERT_OK(KeepCheckpoint(store_.clients(), options, *checkpoint));
  Ingest(*settlement, {ToJson(OutputOf(1, 201))});
  Random random(test::Seed());
  for (int i = 0; i < 20; ++i) {
    const Answer& answer = answers.at(1 + random.Below(lines.size()));
    auto proof = Prove(settlement->chains(), *checkpoint, answer.symbol_id, answer.output_seq);
    ASSERT_OK(proof);
    EXPECT_EQ(proof->record.payload, lines[answer.number - 1]);
    EXPECT_OK(VerifyInclusion(*proof, key_.public_key(), HashOf));
    proof->record.payload.back() = ' ';
    EXPECT_FALSE(VerifyInclusion(*proof, key_.public_key(), HashOf).ok());
  }
  EXPECT_EQ(Prove(settlement->chains(), *checkpoint, 1, 201).status().code(), Code::kBadValue);
  EXPECT_EQ(Prove(settlement->chains(), *checkpoint, 77, 1).status().code(), Code::kBadValue);
  const auto kept = NewestCheckpoint(store_.clients(), options);
  ASSERT_OK(kept);
  EXPECT_EQ(*kept, *checkpoint);
  const auto list = ListCheckpoints(store_.clients(), options);
  ASSERT_OK(list);
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ(list->front().sequence, 200);
}

// A head that was changed must not get a signature that says the chain stood there.
TEST_P(HistoryTest, AHeadThatTheLogDoesNotHaveIsNotSigned) {
  const auto settlement = Open();
  Ingest(*settlement, Generated(50, {.symbols = 2}));
  ASSERT_OK(SignHeads(settlement->chains(), key_, 1));
  client::Bson filter;
  filter.Integer("_id", 1);
  client::Bson hash;
  hash.Binary("hash", std::string(32, 'x'));
  client::Bson update;
  update.Document("$set", hash);
  bson_error_t error;
  const Client client = store_.clients().Acquire();
  const auto heads = client::CollectionOf(client.get(), store_.database(), "engine_output_log_heads");
  ASSERT_TRUE(mongoc_collection_update_one(heads.get(), filter.get(), update.get(), nullptr, nullptr, &error));
  const auto refused = SignHeads(settlement->chains(), key_, 1);
  EXPECT_EQ(refused.status().code(), Code::kRecordDamaged);
  EXPECT_THAT(refused.status().ToString(), HasSubstr("symbol 1"));
}

// A chain that is halted because its head was lost must not be left out; one without a record has nothing to sign.
TEST_P(HistoryTest, AChainThatLostItsHeadIsNotLeftOut) {
  {
    const auto settlement = Open();
    Output wrong = OutputOf(9, 1);
    wrong.prev_hash.emplace().fill(0xee);
    EXPECT_EQ(Ingest(*settlement, {ToJson(wrong)}).at(1).outcome, Outcome::kRefused);
    const auto heads = settlement->chains().Heads();
    ASSERT_OK(heads);
    ASSERT_EQ(heads->size(), 1u);
    EXPECT_FALSE(heads->front().halted.empty());
    Ingest(*settlement, {ToJson(OutputOf(1, 2)), ToJson(OutputOf(2, 3))});
    const auto checkpoint = SignHeads(settlement->chains(), key_, 1);
    ASSERT_OK(checkpoint);
    EXPECT_EQ(checkpoint->heads.size(), 2u);
  }
  Drop("engine_output_log_heads");
  const auto settlement = Open();
  EXPECT_EQ(Ingest(*settlement, {ToJson(OutputOf(1, 4))}).at(1).outcome, Outcome::kHalted);
  EXPECT_EQ(SignHeads(settlement->chains(), key_, 1).status().code(), Code::kRecordDamaged);
}

TEST_P(HistoryTest, AProofThatWouldBeTooLongIsRefused) {
  const auto settlement = Open();
  std::vector<std::string> lines;
  size_t bytes = 0;
  for (int64_t i = 1; i <= 8; ++i) {
    lines.push_back(ToJson(OutputOf(1, i)));
    if (i > 1) bytes += lines.back().size();
  }
  ASSERT_TRUE(Count(Ingest(*settlement, lines)).all_stored());
  const auto checkpoint = SignHeads(settlement->chains(), key_, 1);
  ASSERT_OK(checkpoint);
  EXPECT_OK(Prove(settlement->chains(), *checkpoint, 1, 2, bytes));
  const auto refused = Prove(settlement->chains(), *checkpoint, 1, 1, bytes);
  EXPECT_EQ(refused.status().code(), Code::kBadValue);
  EXPECT_THAT(refused.status().ToString(), HasSubstr("an earlier checkpoint makes a smaller one"));
}

}  // namespace
}  // namespace braid::settlement
