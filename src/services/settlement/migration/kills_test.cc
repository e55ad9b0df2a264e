// The migration as a property (C6): several writers, a migrator that is killed at random places, rolled back now and
// then and started again, and a reader that follows where it is told to read. At no time does the reader miss an
// output, and at the end there is exactly what was acknowledged, and of what was not what was stored.
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/strings.h"
#include "services/settlement/migration/testing.h"

namespace braid::settlement::migration {
namespace {

constexpr int kWritersKilled = 3;
constexpr auto kKilled = Code::kShutdownInProgress;

/// Kills at random places.
class Killer {
 public:
  Killer(uint64_t seed, uint64_t one_in) : random_(seed), one_in_(one_in) {}
  Status operator()(std::string_view place) {
    const std::lock_guard lock(mu_);
    // The first visit to a place ends in a kill for certain, so that no seed goes without.
    const bool first = ++visited_[std::string(place)] == 1;
    if (one_in_ == 0 || (!first && !random_.Chance(1, one_in_))) return {};
    return Status(kKilled, StrCat("killed at ", place));
  }
  void Spare() {
    const std::lock_guard lock(mu_);
    one_in_ = 0;
  }
  std::map<std::string, int> visited() const { return visited_; }

 private:
  std::mutex mu_;
  Random random_;
  uint64_t one_in_;
  std::map<std::string, int> visited_;
};

/// The text that tells an output from all others.
std::string MarkOf(const Output& output) { return output.input; }

class MigrationKillsTest : public MigrationStoreTest {
 protected:
  void WriteUntilStopped(int id) {
    Random random(test::Seed() + static_cast<uint64_t>(id));
    Generator generator({.symbols = 3, .cross_percent = 20, .seed = random.Next()});
    std::unique_ptr<MigratingWriter> writer;
    for (int batch = 0; !stop_.load(); ++batch) {
      if (writer == nullptr) writer = *MigratingWriter::Open(store_.clients(), OptionsWith(writer_killer_));
      std::vector<Output> outputs;
      for (uint64_t i = 0; i <= random.Below(6); ++i) {
        Output& output = outputs.emplace_back(generator.Next());
        output.input = StrCat(R"({"mark":")", id, "/", batch, "/", i, R"("})");
      }
      const auto written = writer->AppendNext(outputs);
      const std::lock_guard lock(mu_);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (!written.ok()) {
          maybe_.insert(MarkOf(outputs[i]));
          continue;
        }
        const int64_t sequence = written->first_seq + static_cast<int64_t>(i);
        EXPECT_TRUE(acknowledged_.emplace(sequence, MarkOf(outputs[i])).second) << "two outputs " << sequence;
      }
      if (written.ok()) continue;
      EXPECT_EQ(written.error().code(), kKilled) << written.error().ToString();
      writer.reset();  // a killed process begins anew
    }
  }

  void ReadUntilStopped() {
    const auto reader = OpenReader();
    int64_t next = 1;
    while (!stop_.load()) {
      int64_t acknowledged = 0;
      {
        const std::lock_guard lock(mu_);
        if (!acknowledged_.empty()) acknowledged = acknowledged_.rbegin()->first;
      }
      const Status status = reader->Read(next, [&](const Output& output) {
        EXPECT_EQ(output.output_seq, next) << "a gap";
        next = output.output_seq + 1;
        return Status();
      });
      EXPECT_OK(status);
      // What was acknowledged before the read began must have been seen.
      EXPECT_GT(next, acknowledged);
    }
  }

  MigrationOptions OptionsWith(Killer& killer) const {
    MigrationOptions options = MigrationStoreTest::Options();
    options.batch_records_max = 50;
    options.failpoint = [&killer](std::string_view place) { return killer(place); };
    return options;
  }

  /// From the beginning until the operation is through, however often it is killed.
  template <typename Operation>
  int UntilDone(Operation operation) {
    for (int kills = 0;; ++kills) {
      const auto migrator = *Migrator::Open(store_.clients(), OptionsWith(migrator_killer_));
      const Status status = operation(*migrator);
      if (status.ok()) return kills;
      EXPECT_EQ(status.code(), kKilled) << status.ToString();
      if (status.code() != kKilled) return kills;
    }
  }

  void AwaitWrites(size_t more) {
    size_t wanted = 0;
    for (;;) {
      {
        const std::lock_guard lock(mu_);
        if (wanted == 0) wanted = acknowledged_.size() + more;
        if (acknowledged_.size() >= wanted) return;
      }
      std::this_thread::yield();
    }
  }

  void ExpectModelOfKills() {
    std::map<int64_t, std::string> stored;
    ASSERT_OK(OpenReader()->Read(1, [&](const Output& output) {
      EXPECT_EQ(output.output_seq, static_cast<int64_t>(stored.size()) + 1);
      stored.emplace(output.output_seq, MarkOf(output));
      return Status();
    }));
    std::set<std::string> once;
    for (const auto& [sequence, mark] : stored) {
      EXPECT_TRUE(once.insert(mark).second) << "twice: " << mark;
      const auto known = acknowledged_.find(sequence);
      if (known != acknowledged_.end()) {
        EXPECT_EQ(mark, known->second);
      } else {
        EXPECT_TRUE(maybe_.contains(mark)) << "nobody wrote " << mark;
      }
    }
    for (const auto& [sequence, mark] : acknowledged_) EXPECT_TRUE(stored.contains(sequence)) << "lost " << sequence;
    ExpectSound(Open()->chains());
  }

  Killer writer_killer_{test::Seed() + 100, 40};
  Killer migrator_killer_{test::Seed() + 200, 20};
  std::atomic<bool> stop_ = false;
  std::mutex mu_;
  std::map<int64_t, std::string> acknowledged_;  // guarded by mu_, as is the next
  std::set<std::string> maybe_;
};
INSTANTIATE_ON_STORES(MigrationKillsTest);

TEST_P(MigrationKillsTest, NobodySeesAGap) {
  Random random(test::Seed());
  Write(*OpenWriter(), 300);
  for (size_t i = 0; i < model_.size(); ++i) {
    OutputParser parser;
    acknowledged_.emplace(static_cast<int64_t>(i) + 1, MarkOf(*parser.Decode(model_[i])));
  }
  std::vector<std::thread> threads;
  for (int id = 0; id < kWritersKilled; ++id) threads.emplace_back([this, id] { WriteUntilStopped(id); });
  threads.emplace_back([this] { ReadUntilStopped(); });

  int kills = 0;
  for (int round = 0; round < 2; ++round) {
    // Somewhere on the way it is rolled back, except in the last round.
    const uint64_t how_far = round == 1 ? 4 : random.Below(4);
    AwaitWrites(10);
    if (how_far >= 1) kills += UntilDone([](Migrator& migrator) { return migrator.Start(); });
    AwaitWrites(10);
    if (how_far >= 2) kills += UntilDone([](Migrator& migrator) { return migrator.Run(); });
    AwaitWrites(10);
    if (how_far >= 3) kills += UntilDone([](Migrator& migrator) { return migrator.Switch(); });
    AwaitWrites(10);
    if (how_far < 4) kills += UntilDone([](Migrator& migrator) { return migrator.Rollback(); });
  }
  kills += UntilDone([](Migrator& migrator) { return migrator.Drop(); });
  AwaitWrites(30);
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  writer_killer_.Spare();
  migrator_killer_.Spare();
  // The rest that a killed writer left on its way.
  ASSERT_OK((*MigratingWriter::Open(store_.clients(), MigrationStoreTest::Options()))->AppendNext({OutputOf(1, 1)}));
  acknowledged_.emplace((*Migrator::Open(store_.clients(), MigrationStoreTest::Options()))->Load()->seq, "{}");
  ExpectModelOfKills();
  EXPECT_GT(kills, 0);
  EXPECT_EQ(PhaseNow(), Phase::kDropped);
}

// The same without chance: killed once at every place there is, each time from a fresh start of that operation.
TEST_P(MigrationKillsTest, EveryPlaceIsSurvived) {
  Write(*OpenWriter(), 60);
  std::map<std::string, bool> killed;
  const auto kill_once = [&](std::string_view place) {
    if (std::exchange(killed[std::string(place)], true)) return Status();
    return Status(kKilled, std::string(place));
  };
  MigrationOptions options = MigrationStoreTest::Options();
  options.failpoint = kill_once;
  const auto until_done = [&](const std::function<Status(Migrator&)>& operation) {
    for (int tries = 0; tries < 50; ++tries) {
      const Status status = operation(**Migrator::Open(store_.clients(), options));
      if (status.ok()) return;
      ASSERT_EQ(status.code(), kKilled) << status.ToString();
      Write(*OpenWriter(), 5);  // goes on whatever was left behind
      ExpectModel();
    }
    ADD_FAILURE() << "never done";
  };
  // Three times: a writer ends a barrier at which the migrator was killed, so each time another place is reached.
  for (int round = 0; round < 3; ++round) {
    if (round > 0) until_done([](Migrator& migrator) { return migrator.Rollback(); });
    until_done([](Migrator& migrator) { return migrator.Run(); });
    until_done([](Migrator& migrator) { return migrator.Switch(); });
  }
  until_done([](Migrator& migrator) { return migrator.Drop(); });
  ExpectModel();
  for (const char* place :
       {"preflight: begun", "preflight: passed", "dual write: begun", "backfill: begun", "mirror: read",
        "mirror: appended", "backfill: one more batch", "verify: begun", "verify: compared", "verify: passed",
        "switch: compared", "switching: begun", "barrier: mirrored", "switched: begun", "rollback: done",
        "dropping: begun", "dropped: begun", "drop: done"}) {
    EXPECT_TRUE(killed[place]) << place;
  }
}

}  // namespace
}  // namespace braid::settlement::migration
