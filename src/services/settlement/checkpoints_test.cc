// Checkpoints and proofs over a real log (C2, C5).
#include "services/settlement/checkpoints.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "client/handles.h"
#include "services/settlement/testing.h"

namespace braid::settlement {
namespace {

using ::testing::HasSubstr;

class CheckpointsTest : public SettlementStoreTest {
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
INSTANTIATE_ON_STORES(CheckpointsTest);

TEST_P(CheckpointsTest, ARewrittenHistoryVerifiesButDoesNotFitTheCheckpoint) {
  const ChainsOptions options = TestOptions().ToChains();
  std::vector<std::string> lines = Generated(300, {.symbols = 3});
  Checkpoint checkpoint;
  {
    const auto settlement = Open();
    Ingest(*settlement, lines);
    checkpoint = *SignHeads(settlement->chains(), key_, 1'700'000'000'000);
    Ingest(*settlement, {ToJson(OutputOf(2, 301))});
    const auto same = CompareWith(settlement->chains(), checkpoint, key_.public_key());
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
  const auto changed = CompareWith(settlement->chains(), checkpoint, key_.public_key());
  ASSERT_OK(changed);
  ASSERT_EQ(changed->size(), 1u);
  EXPECT_EQ(changed->front().chain, answers.at(1).symbol_id);
  EXPECT_THAT(changed->front().what, HasSubstr("history was changed after the checkpoint: expected hash "));
  EXPECT_FALSE(CompareWith(settlement->chains(), checkpoint, SigningKey::Generate().public_key()).ok());
}

TEST_P(CheckpointsTest, EveryRecordCanBeProven) {
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
TEST_P(CheckpointsTest, AHeadThatTheLogDoesNotHaveIsNotSigned) {
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
TEST_P(CheckpointsTest, AChainThatLostItsHeadIsNotLeftOut) {
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

// Ten times as many outputs make a proof longer by a few hashes, and nothing of them is in it.
TEST_P(CheckpointsTest, AProofIsShortAndShowsNoOtherOutput) {
  const auto settlement = Open();
  const auto prove = [&](int64_t outputs) {
    const auto checkpoint = SignHeads(settlement->chains(), key_, 1'700'000'000'000);
    EXPECT_OK(checkpoint);
    const auto proof = Prove(settlement->chains(), *checkpoint, 1, 500);
    EXPECT_OK(proof);
    EXPECT_OK(VerifyInclusion(*proof, key_.public_key(), HashOf));
    EXPECT_EQ(proof->record_index, 499);
    EXPECT_EQ(proof->records, outputs);
    return ToJson(*proof);
  };
  const auto ingest = [&](int64_t from, int64_t to) {
    std::vector<std::string> lines;
    for (int64_t i = from; i <= to; ++i) {
      Output output = OutputOf(1, i);
      output.input = StrCat("{\"secret\":\"of output ", i, "!\"}");
      lines.push_back(ToJson(output));
    }
    EXPECT_TRUE(Count(Ingest(*settlement, lines)).all_stored());
  };
  ingest(1, 1000);
  const std::string after_a_thousand = prove(1000);
  ingest(1001, 10'000);
  const std::string after_ten_thousand = prove(10'000);
  constexpr size_t kHashAsText = 67;  // with quotes and comma
  EXPECT_LE(after_ten_thousand.size(), after_a_thousand.size() + 4 * kHashAsText + 16);
  for (const int64_t other : {1, 499, 501, 502, 1000, 10'000}) {
    EXPECT_EQ(after_ten_thousand.find(Hex(StrCat("of output ", other, "!"))), std::string::npos) << other;
  }
  EXPECT_NE(after_ten_thousand.find(Hex("of output 500!")), std::string::npos);
  // Any byte of it changed: refused, or read as the very same.
  const auto proof = ParseInclusionProof(after_ten_thousand);
  ASSERT_OK(proof);
  for (size_t place = 0; place < after_ten_thousand.size(); place += 3) {
    std::string changed = after_ten_thousand;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    const auto read = ParseInclusionProof(changed);
    EXPECT_TRUE(!read.ok() || *read == *proof || !VerifyInclusion(*read, key_.public_key(), HashOf).ok()) << changed;
  }
}

TEST_P(CheckpointsTest, AChainWithoutATreeIsNotSignedUntilItHasOne) {
  const auto settlement = Open();
  Ingest(*settlement, Generated(50, {.symbols = 2}));
  client::Bson filter;
  filter.Integer("_id", 1);
  client::Bson tree;
  client::Bson update;
  update.Document("$unset", tree.Bool("tree", true));
  bson_error_t error;
  {
    const Client client = store_.clients().Acquire();
    const auto heads = client::CollectionOf(client.get(), store_.database(), "engine_output_log_heads");
    ASSERT_TRUE(mongoc_collection_update_one(heads.get(), filter.get(), update.get(), nullptr, nullptr, &error));
  }
  const auto refused = SignHeads(settlement->chains(), key_, 1);
  EXPECT_EQ(refused.status().code(), Code::kIllegalOperation);
  EXPECT_THAT(refused.status().ToString(), HasSubstr("symbol 1 has no tree"));
  ASSERT_OK(settlement->chains().Repair(1, {.action = RepairAction::kTreeFromLog, .by = "ann", .reason = "old"}));
  ASSERT_OK(SignHeads(settlement->chains(), key_, 1));
}

// Its root is of the history that was signed, whatever the tree is now.
TEST_P(CheckpointsTest, ATreeThatIsNotTheCheckpointsIsNamed) {
  const auto settlement = Open();
  std::vector<std::string> lines;
  for (int64_t i = 1; i <= 300; ++i) lines.push_back(ToJson(OutputOf(1, i)));
  ASSERT_TRUE(Count(Ingest(*settlement, lines)).all_stored());
  const auto checkpoint = SignHeads(settlement->chains(), key_, 1);
  ASSERT_OK(checkpoint);
  Drop("engine_output_log_tree");
  const auto changed = CompareWith(settlement->chains(), *checkpoint, key_.public_key());
  ASSERT_OK(changed);
  ASSERT_EQ(changed->size(), 1u);
  EXPECT_THAT(changed->front().what, HasSubstr("the tree is not the checkpoint's"));
  EXPECT_EQ(Prove(settlement->chains(), *checkpoint, 1, 5).status().code(), Code::kRecordDamaged);
}

}  // namespace
}  // namespace braid::settlement
