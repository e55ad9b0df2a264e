// How much an append does for others (C6): the bounds that writer.h promises, asserted for every append of writers that
// go on while the chains are far behind, caught up with, switched to, rolled back from, and the table is dropped.
#include <set>
#include <thread>

#include "base/mutex.h"
#include "base/testing/testing.h"
#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

constexpr int kWriters = 4;
constexpr int64_t kOutputsMax = 12;  // of one append
constexpr int64_t kBatch = 20;

class MigrationBoundsTest : public MigrationStoreTest {
 protected:
  MigrationOptions BoundedOptions() const {
    MigrationOptions options = Options();
    options.batch_records_max = kBatch;
    return options;
  }
  std::unique_ptr<MigratingWriter> OpenBounded() { return *MigratingWriter::Open(store_.clients(), BoundedOptions()); }

  static int64_t MostOf(const MigratingWriter::Written& written, int64_t own) {
    const int64_t at_barriers = written.barriers * kBatch;
    if (!Mirrors(written.phase)) return at_barriers;
    if (!ReadsChains(written.phase)) return at_barriers + std::max(2 * own, kBatch);
    return at_barriers + written.ahead + kBatch;
  }

  void ExpectBounds(const MigratingWriter::Written& written, int64_t own, int64_t ahead_max) {
    EXPECT_LE(written.brought_in, MostOf(written, own))
        << NameOf(written.phase) << ", " << own << " own, " << written.ahead << " ahead, " << written.barriers
        << " barriers";
    // From the switch on the chains lack only outputs of appends that have not returned.
    if (!ReadsChains(written.phase)) return;
    EXPECT_LE(written.ahead, ahead_max);
  }

  void WriteUntilStopped(int id) {
    Random random(test::Seed() + static_cast<uint64_t>(id));
    Generator generator({.symbols = 3, .cross_percent = 20, .seed = random.Next()});
    const auto writer = OpenBounded();
    while (TakeTicket()) {
      std::vector<Output> outputs;
      for (uint64_t i = 0; i <= random.Below(kOutputsMax); ++i) outputs.push_back(generator.Next());
      const auto own = static_cast<int64_t>(outputs.size());
      const auto written = writer->AppendNext(std::move(outputs));
      const MutexLock lock(mu_);
      ++appends_;
      changed_.NotifyAll();
      EXPECT_OK(written);
      if (!written.ok()) continue;
      ExpectBounds(*written, own, (kWriters - 1) * kOutputsMax);
      seen_.insert(written->phase);
      barriers_ += written->barriers;
      brought_in_ += written->brought_in;
    }
  }

  bool TakeTicket() {
    MutexLock lock(mu_);
    changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return taken_ < tickets_ || stop_; });
    if (taken_ == tickets_) return false;
    ++taken_;
    return true;
  }

  /// An operation while so many appends are under way.
  void UnderLoad(int64_t appends, const std::function<Status()>& operation) {
    {
      const MutexLock lock(mu_);
      tickets_ += appends;
    }
    changed_.NotifyAll();
    EXPECT_OK(operation());
    MutexLock lock(mu_);
    changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return appends_ == tickets_; });
  }

  Mutex mu_;
  CondVar changed_;
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  int64_t tickets_ BRAID_GUARDED_BY(mu_) = 0;  // appends that writers may do in all,
  int64_t taken_ BRAID_GUARDED_BY(mu_) = 0;    // those that they began
  int64_t appends_ BRAID_GUARDED_BY(mu_) = 0;  // and those that have returned
  std::set<Phase> seen_;
  int64_t barriers_ = 0;
  int64_t brought_in_ = 0;
};
INSTANTIATE_ON_STORES(MigrationBoundsTest);

TEST_P(MigrationBoundsTest, EveryAppendOfAMigrationUnderLoad) {
  Random random(test::Seed());
  Write(*OpenWriter(), 600);  // far behind
  const auto migrator = *Migrator::Open(store_.clients(), BoundedOptions());
  std::vector<std::thread> threads;
  for (int id = 0; id < kWriters; ++id) threads.emplace_back([this, id] { WriteUntilStopped(id); });
  const auto load = [&] { return 15 + static_cast<int64_t>(random.Below(25)); };
  UnderLoad(load(), [&] { return migrator->Start(); });
  // Barriers over and over, so that writers meet them in all states.
  constexpr int kRounds = test::Rounds(4, 2);
  for (int round = 1; round <= kRounds; ++round) {
    UnderLoad(load(), [&] { return migrator->Run(); });
    UnderLoad(load(), [&] { return migrator->Switch(); });
    if (round == kRounds) break;
    UnderLoad(load(), [&] { return migrator->Rollback(); });
  }
  UnderLoad(load(), [&] { return migrator->Drop(); });
  UnderLoad(load(), [] { return Status(); });
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(seen_.contains(Phase::kSwitched));
  EXPECT_TRUE(seen_.contains(Phase::kDropped));
  EXPECT_GT(brought_in_, 0);
  // Nobody met a barrier more often than there were any.
  EXPECT_LE(barriers_, int64_t{kRounds + 1} * kWriters);
  const auto state = migrator->Load();
  ASSERT_OK(state);
  int64_t read = 0;
  ASSERT_OK(OpenReader()->Read(1, [&](const Output& output) {
    EXPECT_EQ(output.output_seq, ++read);
    return Status();
  }));
  EXPECT_EQ(read, state->outputs);
  EXPECT_EQ(state->mirrored_outputs, state->outputs);  // every append has returned: the chains lack nothing
}

// At a barrier whose migrator was killed: one append ends it, with what was on its way, and the next meets none.
TEST_P(MigrationBoundsTest, TheFirstAppendAtABarrierEndsIt) {
  Random random(test::Seed());
  const auto writer = OpenBounded();
  Write(*writer, 50);
  ASSERT_OK(OpenMigrator()->Run());
  for (const Phase barrier : {Phase::kSwitching, Phase::kDropping}) {
    SCOPED_TRACE(std::string(NameOf(barrier)));
    const auto left = static_cast<int64_t>(random.Below(kBatch + 1));
    MigrationOptions options = BoundedOptions();
    options.failpoint = [&](std::string_view place) {
      return place == "write: stored" ? Status(Code::kShutdownInProgress, "killed") : Status();
    };
    const auto killed = *MigratingWriter::Open(store_.clients(), options);
    for (int64_t i = 0; i < left; ++i) EXPECT_FALSE(killed->AppendNext({OutputOf(1, 1)}).ok());
    const Phase before = barrier == Phase::kSwitching ? Phase::kVerified : Phase::kSwitched;
    const auto begun = writer->store().ChangeIfLacking(kBatch, before, barrier);
    ASSERT_OK(begun);
    ASSERT_TRUE(*begun);
    const auto first = writer->AppendNext({OutputOf(1, 1), OutputOf(2, 1)});
    ASSERT_OK(first);
    EXPECT_EQ(first->barriers, 1);
    EXPECT_EQ(first->brought_in, left);
    const auto second = writer->AppendNext({OutputOf(1, 1)});
    ASSERT_OK(second);
    EXPECT_EQ(second->barriers, 0);
    EXPECT_EQ(second->brought_in, 0);
  }
  EXPECT_EQ(PhaseNow(), Phase::kDropped);
}

// With the migrator gone, writers alone get the chains up to date, however many take turns and whatever a batch is.
TEST_P(MigrationBoundsTest, WritersCatchUpWithoutAMigrator) {
  for (const int writers : {1, 3}) {
    SCOPED_TRACE(writers);
    test::TestStore fresh(GetParam());
    MigrationOptions options = Options();
    options.database = fresh.database();
    options.batch_records_max = 10;
    const auto open = [&] { return *MigratingWriter::Open(fresh.clients(), options); };
    Generator generator({.symbols = 3, .seed = test::Seed()});
    const auto some = [&] {
      std::vector<Output> outputs;
      for (int i = 0; i < 10; ++i) outputs.push_back(generator.Next());
      return outputs;
    };
    const auto first = open();
    for (int i = 0; i < 30; ++i) ASSERT_OK(first->AppendNext(some()));
    ASSERT_OK((*Migrator::Open(fresh.clients(), options))->Start());
    std::vector<std::unique_ptr<MigratingWriter>> all;
    for (int i = 0; i < writers; ++i) all.push_back(open());
    int rounds = 0;
    for (int64_t ahead = 1; ahead > 0 && rounds < 60; ++rounds) {
      for (const auto& writer : all) {
        const auto written = writer->AppendNext(some());
        ASSERT_OK(written);
        EXPECT_LE(written->brought_in, 20);
        ahead = written->ahead;
      }
    }
    EXPECT_LT(rounds, 60) << "300 outputs behind, and every round has to make up for 10 at least";
  }
}

}  // namespace
}  // namespace braid::settlement::migration
