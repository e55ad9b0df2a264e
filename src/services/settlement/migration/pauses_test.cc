// Somebody sleeps at some place while the migration goes on without it, and then wakes (C6): a place is where the
// failpoint is called, and what happens meanwhile happens there.
#include <gmock/gmock.h>

#include "base/strings.h"
#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

using ::testing::HasSubstr;

class MigrationPausesTest : public MigrationStoreTest {
 protected:
  /// Options of a process that sleeps at a place, once, while `meanwhile` happens.
  MigrationOptions AsleepAt(const std::string& place, std::function<void()> meanwhile) {
    MigrationOptions options = Options();
    options.failpoint = [this, place, meanwhile = std::move(meanwhile)](std::string_view reached) {
      if (reached == place && !std::exchange(slept_, true)) meanwhile();
      return Status();
    };
    return options;
  }
  std::unique_ptr<MigratingWriter> WriterAsleepAt(const std::string& place, std::function<void()> meanwhile) {
    return *MigratingWriter::Open(store_.clients(), AsleepAt(place, std::move(meanwhile)));
  }
  /// A writer that is killed with its outputs stored and not yet in the chains.
  void WriteAndBeKilled(int count) {
    MigrationOptions options = Options();
    options.failpoint = [](std::string_view place) {
      return place == "write: stored" ? Status(Code::kShutdownInProgress, "killed") : Status();
    };
    std::vector<Output> outputs;
    for (int i = 0; i < count; ++i) outputs.push_back(generator_.Next());
    ASSERT_EQ((*MigratingWriter::Open(store_.clients(), options))->AppendNext(outputs).status().code(),
              Code::kShutdownInProgress);
    int64_t sequence = OpenMigrator()->Load()->seq - count;
    for (Output& output : outputs) {
      output.output_seq = ++sequence;
      model_.push_back(EncodePayload(output));
    }
  }

  bool slept_ = false;
};
INSTANTIATE_ON_STORES(MigrationPausesTest);

// Wherever a writer is stopped (SIGSTOP), switch and drop do not wait for it, and its outputs are there once. (Inside a
// transaction it is the end of its session that they wait for: tests/services/settlement_migration.test.mjs.)
TEST_P(MigrationPausesTest, AWriterSleepsThroughSwitchAndDrop) {
  for (const char* place : {"write: stored", "mirror: read", "mirror: appended"}) {
    SCOPED_TRACE(place);
    test::TestStore fresh(GetParam());
    slept_ = false;
    MigrationOptions options = Options();
    options.database = fresh.database();
    const auto open_writer = [&] { return *MigratingWriter::Open(fresh.clients(), options); };
    const auto migrator = *Migrator::Open(fresh.clients(), options);
    ASSERT_OK(open_writer()->AppendNext({OutputOf(1, 1), OutputOf(2, 2)}));
    ASSERT_OK(migrator->Run());
    MigrationOptions sleepy = AsleepAt(place, [&] {
      EXPECT_OK(migrator->Switch());
      EXPECT_OK(open_writer()->AppendNext({OutputOf(2, 1)}));
      EXPECT_OK(migrator->Drop());
      EXPECT_OK(open_writer()->AppendNext({OutputOf(3, 1)}));
    });
    sleepy.database = fresh.database();
    const auto written =
        (*MigratingWriter::Open(fresh.clients(), sleepy))->AppendNext({OutputOf(1, 1), OutputOf(3, 1)});
    ASSERT_OK(written);
    EXPECT_TRUE(slept_);
    std::vector<int64_t> sequences;
    ASSERT_OK((*MigratingReader::Open(fresh.clients(), options))->Read(1, [&](const Output& output) {
      sequences.push_back(output.output_seq);
      return Status();
    }));
    EXPECT_EQ(sequences, (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_FALSE(*migrator->HasOldTable());
    EXPECT_EQ(migrator->Load()->mirrored_seq, 6);
  }
}

// A step that is slower than another's is further in the end if it had more: the mirror must not stay behind.
TEST_P(MigrationPausesTest, TheMirrorIsWhereTheFurthestStepWas) {
  Write(*OpenWriter(), 100);
  const auto migrator = OpenMigrator();
  ASSERT_OK(migrator->Start());
  const auto other = *StateStore::Open(store_.clients(), Options());
  const auto others_mirror = *Mirror::Open(*other);
  const auto store =
      *StateStore::Open(store_.clients(), AsleepAt("mirror: read", [&] { EXPECT_OK(others_mirror->Step(10)); }));
  const auto mirror = *Mirror::Open(*store);
  ASSERT_OK(mirror->Step(60));
  EXPECT_EQ(migrator->Load()->mirrored_seq, 60);
  EXPECT_EQ(migrator->Load()->mirrored_outputs, 60);
  ASSERT_OK(others_mirror->Step(20));
  EXPECT_EQ(migrator->Load()->mirrored_seq, 80);
}

TEST_P(MigrationPausesTest, ARunThatIsRolledBackSaysSo) {
  Write(*OpenWriter(), 100);
  for (const char* place : {"backfill: one more batch", "verify: begun", "verify: compared"}) {
    SCOPED_TRACE(place);
    slept_ = false;
    const auto migrator =
        *Migrator::Open(store_.clients(), AsleepAt(place, [&] { EXPECT_OK(OpenMigrator()->Rollback()); }));
    Write(*OpenWriter(), 20);  // something to backfill
    EXPECT_FALSE(migrator->Run().ok());
    EXPECT_TRUE(slept_);
    EXPECT_EQ(PhaseNow(), Phase::kRolledBack);
    EXPECT_EQ(migrator->Load()->verified_seq, 0);  // all of it is compared again
  }
  ASSERT_OK(OpenMigrator()->Run());
  ExpectModel();
}

// Wherever one migrator is, another may do the whole rest; the first then finds it done.
TEST_P(MigrationPausesTest, AnotherMigratorWasFaster) {
  for (const char* place : {"preflight: begun", "preflight: passed", "dual write: begun", "backfill: begun",
                            "backfill: one more batch", "verify: begun", "verify: compared", "verify: passed"}) {
    SCOPED_TRACE(place);
    slept_ = false;
    Write(*OpenWriter(), 30);
    const auto migrator = *Migrator::Open(store_.clients(), AsleepAt(place, [&] { EXPECT_OK(OpenMigrator()->Run()); }));
    EXPECT_OK(migrator->Run());
    EXPECT_TRUE(slept_);
    EXPECT_EQ(PhaseNow(), Phase::kVerified);
    ASSERT_OK(migrator->Rollback());
  }
  ASSERT_OK(OpenMigrator()->Run());
  slept_ = false;
  const auto switcher = *Migrator::Open(store_.clients(), AsleepAt("switch: compared", [&] {
                                          EXPECT_OK(OpenMigrator()->Switch());
                                          EXPECT_OK(OpenMigrator()->Drop());
                                        }));
  EXPECT_OK(switcher->Switch());
  EXPECT_TRUE(slept_);
  EXPECT_EQ(PhaseNow(), Phase::kDropped);
  ExpectModel();
}

TEST_P(MigrationPausesTest, ARollbackDuringTheDropKeepsTheTable) {
  Write(*OpenWriter(), 40);
  ASSERT_OK(OpenMigrator()->Run());
  ASSERT_OK(OpenMigrator()->Switch());
  const auto migrator =
      *Migrator::Open(store_.clients(), AsleepAt("dropping: begun", [&] { EXPECT_OK(OpenMigrator()->Rollback()); }));
  EXPECT_FALSE(migrator->Drop().ok());
  EXPECT_EQ(PhaseNow(), Phase::kRolledBack);
  EXPECT_TRUE(*migrator->HasOldTable());
  Write(*OpenWriter(), 10);
  ExpectModel();
}

// Opening something must not bring the old table back while another process drops it.
TEST_P(MigrationPausesTest, TheTableStaysGone) {
  Write(*OpenWriter(), 10);
  const auto migrator = OpenMigrator();
  ASSERT_OK(migrator->Run());
  ASSERT_OK(migrator->Switch());
  const Client client = store_.clients().Acquire();
  const auto table = client::CollectionOf(client.get(), store_.database(), Options().old_table);
  ASSERT_TRUE(mongoc_collection_drop(table.get(), nullptr));  // as if it happened within Open()
  OpenReader();
  EXPECT_FALSE(*migrator->HasOldTable());
}

TEST_P(MigrationPausesTest, AnotherDropBringsInWhatAKilledWriterLeft) {
  Write(*OpenWriter(), 10);
  const auto migrator = OpenMigrator();
  ASSERT_OK(migrator->Run());
  ASSERT_OK(migrator->Switch());
  ASSERT_OK(migrator->Drop());
  WriteAndBeKilled(1);
  EXPECT_EQ(migrator->Load()->mirrored_seq, 10);
  ASSERT_OK(migrator->Drop());
  EXPECT_EQ(migrator->Load()->mirrored_seq, 11);
  ExpectModel();
}

// What is on its way at a barrier is what every writer that meets the barrier has to wait for.
TEST_P(MigrationPausesTest, ABarrierDoesNotBeginWhileWritersHaveTooMuchOnItsWay) {
  Write(*OpenWriter(), 30);
  ASSERT_OK(OpenMigrator()->Run());
  MigrationOptions options = Options();
  options.batch_records_max = 2;
  options.failpoint = [&](std::string_view place) {
    if (place == "switch: compared") WriteAndBeKilled(3);
    return Status();
  };
  const Status status = (*Migrator::Open(store_.clients(), options))->Switch();
  EXPECT_EQ(status.code(), Code::kOperationFailed);
  EXPECT_THAT(std::string(status.message()), HasSubstr("choose a larger batch"));
  EXPECT_EQ(PhaseNow(), Phase::kVerified);
  ASSERT_OK(OpenMigrator()->Switch());
  ExpectModel();
}

}  // namespace
}  // namespace braid::settlement::migration
