// Recovery: discover, verify, replay, and name what is damaged (C5).
#include "services/settlement/views/recovery.h"

#include "services/settlement/views/testing.h"

namespace braid::settlement {
namespace {

class RecoveryTest : public ViewsStoreTest {
 protected:
  void Fill(Chains& chains, int count) {
    std::vector<Output> outputs;
    for (int i = 0; i < count; ++i) outputs.push_back(maker_.Next());
    Append(chains, outputs, model_);
  }
  static ChainRecord NoOutput(int64_t chain, int64_t sequence) {
    ChainRecord record;
    record.chain = chain;
    record.sequence = sequence;
    record.payload = "not an output";
    return record;
  }

  Random random_{test::Seed()};
  OutputMaker maker_{random_};
  Model model_;
};
INSTANTIATE_ON_STORES(RecoveryTest);

TEST_P(RecoveryTest, BringsTheViewsUpToTheLog) {
  auto views = Open();
  Fill(views->chains(), 200);
  views.reset();
  store_.Restart();
  views = Open(Options(7));
  RecoverOptions options;
  options.check = true;
  int64_t verified = 0;
  options.on_progress = [&](const std::string& done, int64_t records, int64_t total) {
    if (done != "verified") return;
    EXPECT_LE(records, total);
    verified = std::max(verified, records);
  };
  options.threads = 1;  // so that progress is told by one thread
  const auto first = Recover(*views, options);
  ASSERT_OK(first);
  EXPECT_TRUE(first->ok());
  EXPECT_EQ(first->replay.records, first->verify.records);
  EXPECT_EQ(verified, first->verify.records);
  ExpectModel(*views, model_);

  Fill(views->chains(), 50);
  const auto second = Recover(*views, {});
  ASSERT_OK(second);
  EXPECT_EQ(second->replay.records, second->verify.records - first->verify.records);
  ExpectModel(*views, model_);

  const auto rebuilt = Recover(*views, {.rebuild = true, .check = true});
  ASSERT_OK(rebuilt);
  EXPECT_TRUE(rebuilt->ok());
  EXPECT_EQ(rebuilt->replay.records, rebuilt->verify.records);
  ExpectModel(*views, model_);
}

// A chain is as it was written, but not of outputs: it stops there, named once, and the others go on.
TEST_P(RecoveryTest, WhatIsNoOutputIsDamageToo) {
  const auto views = Open();
  Fill(views->chains(), 60);
  AppendRecords(views->chains(), {NoOutput(3, 1000)});
  Output after;
  after.output_seq = 1001;
  after.order_update = OrderUpdate{.order_id = {"late"}, .user_id = {"u"}, .symbol_id = 3, .status = "open"};
  AppendRecords(views->chains(), {ToRecord(after)});
  for (const bool rebuild : {false, true}) {
    const auto report = Recover(*views, {.rebuild = rebuild, .check = true});
    ASSERT_OK(report);
    EXPECT_FALSE(report->ok());
    EXPECT_TRUE(report->kept.empty());
    ASSERT_EQ(report->verify.damage.size(), 1u);
    EXPECT_EQ(report->verify.damage[0].chain, 3);
    EXPECT_EQ(report->verify.damage[0].sequence, 1000);
    ExpectModel(*views, model_);
  }
}

// The head of a chain is gone: verification names it, nothing of it is replayed, the others are.
TEST_P(RecoveryTest, AChainWithoutAHeadIsNamed) {
  const auto views = Open();
  Fill(views->chains(), 60);
  const Client client = store_.clients().Acquire();
  const auto heads = client::CollectionOf(client.get(), store_.database(), "engine_output_log_heads");
  client::Bson filter;
  filter.Integer("_id", 2);
  bson_error_t error{};
  ASSERT_TRUE(mongoc_collection_delete_one(heads.get(), filter.get(), nullptr, nullptr, &error)) << error.message;
  const auto report = Recover(*views, {});
  ASSERT_OK(report);
  ASSERT_EQ(report->verify.damage.size(), 1u);
  EXPECT_EQ(report->verify.damage[0].chain, 2);
  const auto applied = views->Applied(View::kBalances);
  ASSERT_OK(applied);
  EXPECT_FALSE(applied->contains(2));
  EXPECT_TRUE(applied->contains(1));
}

}  // namespace
}  // namespace braid::settlement
