// The records of the ledger's runs: their shares, their sizes, and that a seed repeats them.
#include "bench/ledger_data.h"

#include <mongoc/mongoc.h>

#include <map>
#include <numeric>

#include "base/testing/testing.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::bench {
namespace {

constexpr Spread kSpreads[] = {Spread::kGlobal, Spread::kEqual, Spread::kHot, Spread::kReal};

TEST(LedgerDataTest, SharesAreOneTogetherAndFall) {
  for (const Spread spread : kSpreads) {
    for (const uint32_t symbols : {1u, 2u, 8u, kSymbolsMax}) {
      const std::vector<double> shares = SharesOf(spread, symbols);
      EXPECT_EQ(shares.size(), spread == Spread::kGlobal ? 1 : symbols);
      EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
      EXPECT_TRUE(std::is_sorted(shares.rbegin(), shares.rend())) << NameOf(spread);
    }
  }
  EXPECT_NEAR(SharesOf(Spread::kHot, 8)[0], 0.9, 1e-9);
  EXPECT_NEAR(SharesOf(Spread::kHot, 8)[7], 0.1 / 7, 1e-9);
  EXPECT_NEAR(SharesOf(Spread::kReal, 8)[0], 762.0 / 4401, 1e-9);
  EXPECT_NEAR(SharesOf(Spread::kReal, 64)[0], 762.0 / 20859, 1e-9);
}

TEST(LedgerDataTest, ChainsGetTheirShares) {
  constexpr uint64_t kCount = 40'000;
  for (const Spread spread : kSpreads) {
    const std::vector<ChainRecord> records =
        MakeRecords({.spread = spread, .count = kCount, .bytes = 8, .random_bytes = true, .seed = test::Seed()});
    const std::vector<double> shares = SharesOf(spread, 8);
    std::map<int64_t, int> counts;
    int64_t sequence = 0;
    for (const ChainRecord& record : records) {
      ASSERT_EQ(record.sequence, ++sequence);
      ASSERT_GE(record.chain, 1);
      ASSERT_LE(record.chain, static_cast<int64_t>(shares.size()));
      ++counts[record.chain];
    }
    for (size_t i = 0; i < shares.size(); ++i) {
      // Seven standard deviations.
      EXPECT_NEAR(counts[static_cast<int64_t>(i) + 1], kCount * shares[i],
                  1 + 7 * std::sqrt(kCount * shares[i] * (1 - shares[i])));
    }
  }
}

TEST(LedgerDataTest, PayloadsAreJsonOfAboutTheSizeAndDiffer) {
  for (const size_t bytes : {300u, 500u, 2000u}) {
    const auto records = MakeRecords({.count = 500, .bytes = bytes, .seed = test::Seed()});
    size_t sum = 0;
    for (const ChainRecord& record : records) {
      const auto document = client::ParseJson(record.payload);
      ASSERT_OK(document);
      EXPECT_EQ(client::IntegerOf(document->get(), "output_seq"), record.sequence);
      EXPECT_EQ(client::IntegerOf(document->get(), "symbol_id"), record.chain);
      sum += record.payload.size();
    }
    EXPECT_NEAR(static_cast<double>(sum) / 500, static_cast<double>(bytes), static_cast<double>(bytes) * 0.15);
  }
}

TEST(LedgerDataTest, RandomPayloadsHaveTheSizeAndSeedsRepeat) {
  const RecordsOptions options{.count = 100, .bytes = 301, .random_bytes = true, .seed = test::Seed()};
  const auto records = MakeRecords(options);
  const auto again = MakeRecords(options);
  RecordsOptions changed = options;
  ++changed.seed;
  const auto others = MakeRecords(changed);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].payload.size(), 301u);
    EXPECT_EQ(records[i].payload, again[i].payload);
    EXPECT_EQ(records[i].chain, again[i].chain);
    EXPECT_NE(records[i].payload, others[i].payload);
  }
}

}  // namespace
}  // namespace braid::bench
