// What MigratingWriter takes, takes again and refuses (C6).
#include <gmock/gmock.h>

#include "base/strings.h"
#include "services/settlement/migration/state.h"
#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

class MigratingWriterTest : public MigrationStoreTest {
 protected:
  void MigrateTo(Phase phase) {
    const auto migrator = OpenMigrator();
    if (phase >= Phase::kVerified) ASSERT_OK(migrator->Run());
    if (phase >= Phase::kSwitched) ASSERT_OK(migrator->Switch());
    if (phase >= Phase::kDropped) ASSERT_OK(migrator->Drop());
  }
};
INSTANTIATE_ON_STORES(MigratingWriterTest);

// Hashes that an output names are of another time or chain: they are not looked at, when it is sent again neither.
TEST_P(MigratingWriterTest, GivenHashesAreNotLookedAt) {
  const auto writer = OpenWriter();
  Output output = OutputOf(1, 1);
  output.hash = ChainHash{1};
  output.prev_hash = ChainHash{2};
  ASSERT_OK(writer->Append({&output, 1}));
  for (const Phase phase : {Phase::kVerified, Phase::kSwitched, Phase::kDropped}) {
    MigrateTo(phase);
    const auto again = writer->Append({&output, 1});
    ASSERT_OK(again);
    EXPECT_EQ(again->duplicates, 1);
  }
  ExpectSound(Open()->chains());
}

// Stored, they would be in the way of everything that comes after, and after the drop for good.
TEST_P(MigratingWriterTest, WhatCannotGoIntoTheChainsIsNotStored) {
  Output large = OutputOf(1, 1);
  large.input = StrCat(R"({"a":")", std::string(Chains::kPayloadBytesMax, 'x'), R"("})");
  Output unreadable = OutputOf(1, 1);
  unreadable.input = "{";
  for (const Phase phase : {Phase::kNone, Phase::kVerified, Phase::kSwitched, Phase::kDropped}) {
    MigrateTo(phase);
    const auto writer = OpenWriter();
    for (const Output& output : {large, unreadable}) {
      const auto refused = writer->AppendNext({OutputOf(2, 1), output});
      EXPECT_EQ(refused.status().code(), Code::kBadValue) << refused.status().ToString();
    }
    Write(*writer, 3);
  }
  ExpectModel();
}

// What went into the chains beside the migration would break them at the next output that comes through it.
TEST_P(MigratingWriterTest, NothingGoesIntoTheChainsDirectlyWhileAMigrationIsUnderWay) {
  const auto check = [&](const std::string& log) {
    return CheckNotUnderWay(store_.clients(), store_.database(), log).code();
  };
  EXPECT_EQ(check(log_), Code::kOk);  // no migration was ever heard of
  const auto writer = OpenWriter();
  Write(*writer, 20);
  EXPECT_EQ(check(log_), Code::kOk);
  for (const Phase phase : {Phase::kVerified, Phase::kSwitched}) {
    MigrateTo(phase);
    EXPECT_EQ(check(log_), Code::kIllegalOperation);
    EXPECT_EQ(check("another_log"), Code::kOk);
  }
  MigrateTo(Phase::kDropped);
  EXPECT_EQ(check(log_), Code::kOk);
}

// An output counts once for each of its symbols.
TEST_P(MigratingWriterTest, LargeOutputsOfManySymbolsGoIntoTheChainsAFewAtATime) {
  const auto writer = OpenWriter();
  Output output;
  output.input = StrCat(R"({"a":")", std::string(900'000, 'x'), R"("})");
  for (int64_t symbol = 1; symbol <= 12; ++symbol) {
    output.trades.push_back({.trade_id = {"1", true},
                             .symbol_id = symbol,
                             .price = "1",
                             .qty = "1",
                             .buyer_id = {"1", true},
                             .seller_id = {"2", true}});
  }
  for (int i = 0; i < 8; ++i) {
    const auto written = writer->AppendNext({output});
    ASSERT_OK(written);
    output.output_seq = written->first_seq;
    model_.push_back(EncodePayload(output));
  }
  MigrateTo(Phase::kDropped);
  ExpectModel();
}

// More than one answer of the store holds.
TEST_P(MigratingWriterTest, ReadersSeeAllOfALargeTable) {
  const auto writer = OpenWriter();
  Output output = OutputOf(1, 1);
  output.input = StrCat(R"({"a":")", std::string(3'000'000, 'x'), R"("})");
  for (int i = 0; i < 7; ++i) ASSERT_OK(writer->AppendNext({output}));
  int64_t seen = 0;
  ASSERT_OK(OpenReader()->Read(1, [&](const Output& next) {
    EXPECT_EQ(next.output_seq, ++seen);
    return Status();
  }));
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace braid::settlement::migration
