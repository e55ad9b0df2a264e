// The made-up chain, small runs of the explorer's benchmark on it, and its verification, which is fed lies.
#include "bench/explorer.h"

#include "bench/explorer_runs.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"

namespace braid::bench {
namespace {

const std::atomic<bool> kNeverStop = false;

ExplorerBenchOptions SmallBench(const std::string& database) {
  return {.database = database,
          .epoch_transactions = 20,
          .epoch_blocks = 3,
          .import_transactions = 200,
          .readers = 2,
          .sizes = {400, 200},
          .queries = 5,
          .pops = 12,
          .stop = &kNeverStop};
}

TEST(ExplorerChainTest, EveryEpochFollowsTheOneBefore) {
  ExplorerBenchOptions options = SmallBench("none");
  for (const auto receipts : {ExplorerReceipts::kNone, ExplorerReceipts::kSame, ExplorerReceipts::kLate}) {
    options.receipts = receipts;
    const ExplorerChain chain(options);
    for (uint64_t number = 0; number < 8; ++number) {
      const auto epoch = explorer::ParseEpoch(chain.Line(number));
      ASSERT_OK(epoch);
      EXPECT_EQ(epoch->number, static_cast<int64_t>(number));
      EXPECT_EQ(epoch->pivot_hash, chain.PivotHash(number));
      ASSERT_EQ(epoch->blocks.size(), 3U);
      EXPECT_EQ(epoch->blocks[1].hash, chain.BlockHash(number * 3 + 1));
      EXPECT_EQ(epoch->blocks[1].miner, chain.Miner(number * 3 + 1));
      // One of the epoch before is carried again.
      EXPECT_EQ(epoch->transaction_count(), number == 0 ? 20U : 21U);
      EXPECT_EQ(epoch->blocks[0].transactions[2].hash, chain.TransactionHash(number * 20 + 2));
      EXPECT_EQ(epoch->blocks[0].transactions[2].from, chain.Sender(number * 20 + 2));
      if (number > 0) {
        EXPECT_EQ(epoch->parent_hash, chain.PivotHash(number - 1));
        EXPECT_EQ(epoch->blocks[0].transactions.back().hash, chain.TransactionHash(number * 20 - 1));
      }
      const bool none = receipts == ExplorerReceipts::kNone || (receipts == ExplorerReceipts::kLate && number < 5);
      EXPECT_EQ(epoch->receipts.size(), none ? 0U : 20U);
    }
  }
}

TEST(ExplorerChainTest, ReceiptsAreReadByName) {
  EXPECT_EQ(ParseExplorerReceipts("late").value_or(ExplorerReceipts::kNone), ExplorerReceipts::kLate);
  EXPECT_FALSE(ParseExplorerReceipts("soon").ok());
}

using ExplorerBenchTest = test::StoreTest;
INSTANTIATE_ON_STORES(ExplorerBenchTest);

TEST_P(ExplorerBenchTest, MeasuresEveryPartAndVerifies) {
  for (const auto receipts : {ExplorerReceipts::kSame, ExplorerReceipts::kLate}) {
    ExplorerBenchOptions options = SmallBench(store_.database());
    options.receipts = receipts;
    uint64_t observed = 0;
    const auto count = [&](const auto&) { ++observed; };
    const auto report = RunExplorer(store_.clients(), options,
                                    {.on_import = count, .on_query = count, .on_pop = count, .on_verify = count});
    ASSERT_OK(report);
    ASSERT_EQ(report->imports.size(), 4U);  // alone, beside readers, and to each size
    EXPECT_EQ(report->imports[0].transactions, 200U);
    EXPECT_EQ(report->imports[0].blocks, 30U);
    EXPECT_EQ(report->imports[0].queries.count(), 0U);
    EXPECT_EQ(report->imports[1].readers, 2);
    EXPECT_EQ(report->imports[3].stored, 200U);
    ASSERT_EQ(report->queries.size(), 2 * kExplorerQueries);
    for (const ExplorerQueryRow& row : report->queries) {
      EXPECT_EQ(row.nanos.count(), 5U) << NameOf(row.query);
      EXPECT_EQ(row.growth > 0, row.transactions == 400) << NameOf(row.query);
    }
    ASSERT_EQ(report->pops.size(), 2U);
    EXPECT_GE(report->pops[0].pop_nanos.count(), 12U);
    EXPECT_EQ(report->pops[0].pop_nanos.count(), report->pops[0].grow_nanos.count());
    ASSERT_EQ(report->verifications.size(), 6U);
    EXPECT_EQ(report->verifications.back().transactions, 400U);
    EXPECT_EQ(observed, 4 + 2 * kExplorerQueries + 2 + 6);
  }
}

TEST_P(ExplorerBenchTest, ALostDocumentAndAShortChainAreFound) {
  const ExplorerBenchOptions options = SmallBench(store_.database());
  const ExplorerChain chain(options);
  auto explorer = RenewExplorer(store_.clients(), options);
  ASSERT_OK(explorer);
  ExplorerImportRow row;
  ASSERT_OK(MeasureImport(store_.clients(), **explorer, chain, {0, 4}, row));
  EXPECT_OK(VerifyExplorer(**explorer, chain, 4));
  EXPECT_FALSE(VerifyExplorer(**explorer, chain, 5).ok());
  client::Bson filter;
  filter.Text("_id", chain.TransactionHash(33));
  const Client client = store_.clients().Acquire();
  const auto transactions = client::CollectionOf(client.get(), store_.database(), "transactions");
  bson_error_t error{};
  ASSERT_TRUE(mongoc_collection_delete_one(transactions.get(), filter.get(), nullptr, nullptr, &error))
      << error.message;
  const auto found = VerifyExplorer(**explorer, chain, 4);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), Code::kInternalError);
  ExplorerReader reader(**explorer, chain, 1);
  Status asked;
  for (int i = 0; i < 2000 && asked.ok(); ++i) asked = reader.Ask(ExplorerQuery::kTransaction, 4);
  EXPECT_EQ(asked.code(), Code::kInternalError);
}

}  // namespace
}  // namespace braid::bench
