// What the preflight finds, and what may still be chosen before a migration begins (C6).
#include <gmock/gmock.h>

#include "base/strings.h"
#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

using ::testing::HasSubstr;

class PreflightTest : public MigrationStoreTest {
 protected:
  /// Preflight refuses with a message that has this text, and `rollback` is a way out of it.
  void ExpectRefused(Code code, const std::string& text) {
    const auto migrator = OpenMigrator();
    const Status status = migrator->Run();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_EQ(PhaseNow(), Phase::kPreflight);
    ASSERT_OK(migrator->Rollback());
  }
  void Insert(const client::Bson& document) { InsertInto(Options().old_table, document); }
  void InsertRecord(const OldRecord& record) {
    client::Bson document;
    ASSERT_OK(AppendTo(document, Options().layout, record));
    Insert(document);
  }
};
INSTANTIATE_ON_STORES(PreflightTest);

TEST_P(PreflightTest, NamesADamagedRecord) {
  Write(*OpenWriter(), 60);
  client::Bson fields;
  fields.Binary("input_data", R"({"forged":1})");
  SetIn(Options().old_table, 33, fields);
  ExpectRefused(Code::kRecordDamaged, "output 33 of the old table: expected hash ");
}

TEST_P(PreflightTest, NamesARecordWithAFieldOfAnotherType) {
  Write(*OpenWriter(), 60);
  client::Bson fields;
  fields.Text("hash", "1");
  SetIn(Options().old_table, 33, fields);
  ExpectRefused(Code::kRecordDamaged, "output 33 of the old table: hash is not a 64-bit integer");
}

// A reader of ranges does not see them, and the drop would remove them.
TEST_P(PreflightTest, NoticesDocumentsThatAreNoOutputs) {
  Write(*OpenWriter(), 20);
  client::Bson zero;
  zero.Integer("_id", 0);
  Insert(zero);
  client::Bson text;
  text.Text("_id", "a note");
  Insert(text);
  ExpectRefused(Code::kRecordDamaged, "2 documents of the old table are not outputs");
}

// A table that is sound by itself, but does not end with what was written.
TEST_P(PreflightTest, NoticesThatTheNewestIsAnother) {
  Write(*OpenWriter(), 20);
  const auto before = ReadOld(store_.clients(), Options().OldOnes(), {.after = 18, .limit = 1});
  ASSERT_OK(before);
  const OldRecord forged = ToOld(OutputOf(1, 20), before->front().hash, 1);
  client::Bson fields;
  fields.Integer("hash", forged.hash).Binary("input_data", forged.input_data).Binary("output_data", forged.output_data);
  SetIn(Options().old_table, 20, fields);
  ExpectRefused(Code::kRecordDamaged, "output 20 of the old table is not the one that was written");
}

TEST_P(PreflightTest, NoticesThatOutputsAreMissing) {
  Write(*OpenWriter(), 20);
  RemoveFrom(Options().old_table, 20);
  ExpectRefused(Code::kRecordDamaged, "the old table has 19 outputs up to 20; expected 20");
}

// The old table could hold more in one output than a chain.
TEST_P(PreflightTest, NamesAnOutputThatIsTooLargeForChains) {
  Write(*OpenWriter(), 3);
  Output large = OutputOf(1, 4);
  large.input = StrCat(R"({"a":")", std::string(Chains::kPayloadBytesMax, 'x'), R"("})");
  InsertRecord(ToOld(large, OpenMigrator()->Load()->hash, 1));
  ExpectRefused(Code::kBadValue, "output 4 has ");
}

// Writers that do not know of the migration's state would write past it. Once they are gone, what they wrote is part of
// the table, and others go on after it.
TEST_P(PreflightTest, NoticesForeignWritersAndTakesTheirOutputsLater) {
  Write(*OpenWriter(), 20);
  const auto migrator = OpenMigrator();
  const Output foreign = OutputOf(1, 21);
  InsertRecord(ToOld(foreign, migrator->Load()->hash, 1));
  EXPECT_EQ(migrator->Run().code(), Code::kOperationFailed);
  ASSERT_OK(migrator->Rollback());
  model_.push_back(EncodePayload(foreign));
  Write(*OpenWriter(), 5);
  EXPECT_EQ(OpenMigrator()->Load()->outputs, 26);
  ASSERT_OK(OpenMigrator()->Run());
  ASSERT_OK(OpenMigrator()->Switch());
  ExpectModel();
}

TEST_P(PreflightTest, AnotherLogMayBeChosenUntilTheMigrationBegins) {
  Write(*OpenWriter(), 40);
  // Somebody else's log has the default name.
  const auto foreign = Open();
  ASSERT_OK(foreign->chains().Append(std::vector<ChainRecord>{{.chain = 1, .sequence = 1, .payload = "{}"}}));
  ExpectRefused(Code::kOperationFailed, "choose another name for the new log");
  const auto writer_of_the_first = OpenWriter();
  log_ = "another_log";
  ASSERT_OK(OpenMigrator()->Run());
  const auto late = writer_of_the_first->AppendNext({OutputOf(1, 1)});
  EXPECT_EQ(late.status().code(), Code::kBadValue) << late.status().ToString();
  Write(*OpenWriter(), 10);
  ASSERT_OK(OpenMigrator()->Switch());
  Write(*OpenWriter(), 10);
  std::vector<std::string> seen;
  ASSERT_OK(OpenReader()->Read(1, [&](const Output& output) {
    seen.push_back(EncodePayload(output));
    return Status();
  }));
  EXPECT_EQ(seen, model_);
}

TEST_P(PreflightTest, ATableMayBeNamedAgainWhileThereIsNoOutput) {
  ASSERT_OK(OpenMigrator()->Load());
  old_table_ = "the_table";
  InsertRecord(ToOld(OutputOf(1, 5), 0, 1));
  EXPECT_EQ(OpenMigrator()->Load()->seq, 5);
  old_table_ = "yet_another";
  EXPECT_EQ(Migrator::Open(store_.clients(), Options()).status().code(), Code::kBadValue);
}

TEST(MigrationOptionsTest, NoTwoCollectionsHaveOneName) {
  EXPECT_OK(MigrationOptions().Validate());
  for (const char* name : {"engine_output_log", "engine_output_log_heads", "settlement_migration",
                           "settlement_migration_queue", "settlement_migration_sessions"}) {
    MigrationOptions options;
    options.old_table = name;
    EXPECT_EQ(options.Validate().code(), Code::kBadValue) << name;
  }
}

}  // namespace
}  // namespace braid::settlement::migration
