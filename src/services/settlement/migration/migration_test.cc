// A migration step by step: what each phase does, refuses and survives (C6).
#include <gmock/gmock.h>

#include <chrono>

#include "base/strings.h"
#include "client/handles.h"
#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

using ::testing::HasSubstr;

using MigrationTest = MigrationStoreTest;
INSTANTIATE_ON_STORES(MigrationTest);

TEST(OldTableTest, AnOutputComesBackAsItWas) {
  Generator generator({.cross_percent = 30, .seed = test::Seed()});
  OutputParser parser;
  int64_t prev_hash = 0;
  for (int i = 0; i < 500; ++i) {
    const Output output = generator.Next();
    OldRecord record = ToOld(output, prev_hash, 1);
    EXPECT_OK(CheckLink({}, prev_hash, record));
    const auto back = FromOld(parser, record);
    ASSERT_OK(back);
    EXPECT_EQ(*back, output);
    EXPECT_EQ(record.output_data.find("symbol_id\":0,\"input"), std::string::npos);
    prev_hash = record.hash;
    record.output_data.back() = ' ';
    EXPECT_FALSE(CheckLink({}, record.prev_hash, record).ok());
    EXPECT_EQ(FromOld(parser, record).status().code(), Code::kRecordDamaged);
  }
}

TEST_P(MigrationTest, TheWholeWay) {
  const auto writer = OpenWriter();
  Write(*writer, 250);
  const auto migrator = OpenMigrator();
  EXPECT_EQ(SourceNow(), ReadSource::kOldTable);
  CompareReport report;
  ASSERT_OK(migrator->Run(&report));
  EXPECT_EQ(report.old_outputs, 250);
  EXPECT_EQ(report.new_outputs, 250);
  EXPECT_EQ(PhaseNow(), Phase::kVerified);
  Write(*writer, 30);
  ASSERT_OK(migrator->Switch());
  EXPECT_EQ(SourceNow(), ReadSource::kChains);
  Write(*writer, 30);
  ASSERT_OK(migrator->Drop());
  EXPECT_FALSE(*migrator->HasOldTable());
  Write(*writer, 30);
  ExpectModel();
  const auto state = migrator->Load();
  ASSERT_OK(state);
  std::string way;
  for (const PhaseChange& change : state->history) way += change.phase + " ";
  EXPECT_EQ(way, "preflight dual_write backfill verify verified switching switched dropping dropped ");
  EXPECT_EQ(state->outputs, 340);
  EXPECT_EQ(migrator->Rollback().code(), Code::kIllegalOperation);
}

TEST_P(MigrationTest, RollingBackLosesNothingAndAnotherRunGoesOn) {
  const auto writer = OpenWriter();
  const auto migrator = OpenMigrator();
  Write(*writer, 100);
  ASSERT_OK(migrator->Run());
  ASSERT_OK(migrator->Switch());
  Write(*writer, 20);
  ASSERT_OK(migrator->Rollback());
  EXPECT_EQ(SourceNow(), ReadSource::kOldTable);
  ExpectModel();
  Write(*writer, 20);
  EXPECT_EQ(migrator->Load()->mirrored_seq, 120);
  ExpectModel();
  ASSERT_OK(migrator->Run());
  ASSERT_OK(migrator->Switch());
  ASSERT_OK(migrator->Drop());
  ExpectModel();
}

TEST_P(MigrationTest, StepsOutOfTurnAreRefused) {
  const auto writer = OpenWriter();
  Write(*writer, 10);
  const auto migrator = OpenMigrator();
  EXPECT_EQ(migrator->Switch().code(), Code::kIllegalOperation);
  EXPECT_EQ(migrator->Drop().code(), Code::kIllegalOperation);
  EXPECT_EQ(migrator->Backfill().code(), Code::kIllegalOperation);
  EXPECT_OK(migrator->Rollback());
  ASSERT_OK(migrator->Start());
  EXPECT_EQ(migrator->Switch().code(), Code::kIllegalOperation);
  ASSERT_OK(migrator->Run());
  EXPECT_EQ(migrator->Drop().code(), Code::kIllegalOperation);
  EXPECT_EQ(Migrator::Open(store_.clients(),
                           [&] {
                             MigrationOptions other = Options();
                             other.log = "another";
                             return other;
                           }())
                .status()
                .code(),
            Code::kBadValue);
}

TEST_P(MigrationTest, GivenSequencesMayBeSentAgain) {
  const auto writer = OpenWriter();
  const auto migrator = OpenMigrator();
  std::vector<Output> outputs;
  for (int64_t i = 1; i <= 20; ++i) outputs.push_back(OutputOf(i % 3, 3 * i));
  const auto send = [&](size_t from, size_t to) { return writer->Append(std::span(outputs).subspan(from, to - from)); };
  ASSERT_OK(send(0, 4));
  EXPECT_EQ(send(2, 8)->duplicates, 2);
  ASSERT_OK(migrator->Run());
  EXPECT_EQ(send(0, 12)->duplicates, 8);
  ASSERT_OK(migrator->Switch());
  EXPECT_EQ(send(11, 15)->duplicates, 1);
  Output forged = OutputOf(1, 9);
  EXPECT_EQ(writer->Append({&forged, 1}).status().code(), Code::kChainBroken);
  Output passed_over = OutputOf(1, 10);
  EXPECT_EQ(writer->Append({&passed_over, 1}).status().code(), Code::kChainBroken);
  ASSERT_OK(migrator->Drop());
  EXPECT_EQ(send(10, 20)->duplicates, 5);
  EXPECT_EQ(send(19, 20)->duplicates, 1);
  std::vector<int64_t> sequences;
  ASSERT_OK(OpenReader()->Read(1, [&](const Output& output) {
    sequences.push_back(output.output_seq);
    return Status();
  }));
  ASSERT_EQ(sequences.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(sequences[i], outputs[i].output_seq);
}

TEST_P(MigrationTest, VerifyNamesWhatDiffers) {
  Write(*OpenWriter(), 60);
  const auto migrator = OpenMigrator();
  ASSERT_OK(migrator->Start());
  ASSERT_OK(migrator->Backfill());
  RemoveFrom(Options().old_table, 33);
  CompareReport report;
  EXPECT_EQ(migrator->Verify(&report).code(), Code::kOperationFailed);
  EXPECT_EQ(report.differences_total, 2);  // the link of 34 too
  ASSERT_FALSE(report.differences.empty());
  EXPECT_EQ(PhaseNow(), Phase::kVerify);
  EXPECT_THAT(migrator->Load()->why, HasSubstr("2 differences"));
  EXPECT_EQ(migrator->Switch().code(), Code::kIllegalOperation);
  EXPECT_OK(migrator->Rollback());
}

// A process killed inside a transaction leaves its lock on the head behind; the store would keep it for a minute.
TEST_P(MigrationTest, AnAbandonedTransactionIsEnded) {
  const auto writer = OpenWriter();
  Write(*writer, 10);
  const Client client = store_.clients().Acquire();
  bson_error_t error;
  const client::SessionPtr session(mongoc_client_start_session(client.get(), nullptr, &error));
  ASSERT_NE(session, nullptr) << error.message;
  ASSERT_TRUE(mongoc_client_session_start_transaction(session.get(), nullptr, &error)) << error.message;
  client::Bson filter;
  filter.Text("_id", "migration");
  client::Bson fields;
  fields.Text("why", "never committed");
  client::Bson change;
  change.Document("$set", fields);
  client::Bson options;
  ASSERT_TRUE(mongoc_client_session_append(session.get(), options.get(), &error)) << error.message;
  const auto state = client::CollectionOf(client.get(), store_.database(), Options().state);
  ASSERT_TRUE(mongoc_collection_update_one(state.get(), filter.get(), change.get(), options.get(), nullptr, &error))
      << error.message;
  client::Bson noted;
  noted.Text("_id", "of a dead process").Integer("renewals", 1);
  bson_append_document(noted.get(), "lsid", -1, mongoc_client_session_get_lsid(session.get()));
  InsertInto(Options().state + "_sessions", noted);
  const auto start = std::chrono::steady_clock::now();
  Write(*writer, 10);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(writer->store().Load()->why, "");
  ExpectModel();
}

// What the chains refuse stops the migration; writers go on with the old table.
TEST_P(MigrationTest, AHaltedChainDoesNotStopWriters) {
  const auto writer = OpenWriter();
  Write(*writer, 50);
  const auto migrator = OpenMigrator();
  ASSERT_OK(migrator->Run());
  client::Bson halted;
  halted.Text("why", "by hand");
  client::Bson fields;
  fields.Document("halted", halted);
  SetIn(Options().log + "_heads", 1, fields);
  Write(*writer, 50);
  EXPECT_FALSE(migrator->Switch().ok());
  ExpectModel();
  ASSERT_OK(migrator->Rollback());
  Write(*writer, 10);
  ExpectModel();
}

}  // namespace
}  // namespace braid::settlement::migration
