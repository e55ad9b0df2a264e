// Power failures and bad disks, by the thousand: random commits on a disk that fails at a random moment, then a restart
// on what is left. Every acknowledged commit must be there, the others whole or not at all, and no commit without those
// before it. BRAID_RUNS sets how many runs. A seed fixes commits and faults; RocksDB's threads add their own timing.
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/store.h"
#include "engine/storage/testing/faulty_file_system.h"

/// RocksDB forgets memtables whose flush could not be written to the manifest.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:rocksdb::DBImpl::SwitchMemtable\n"; }

namespace braid::storage {
namespace {

using State = std::map<std::string, std::string>;

struct Change {
  enum Kind { kPut, kDelete, kAdd } kind;
  std::string key;
  std::string value;
  int64_t amount = 0;
};
using Changes = std::vector<Change>;

void Apply(const Changes& changes, State& state) {
  for (const Change& change : changes) {
    switch (change.kind) {
      case Change::kPut: state[change.key] = change.value; break;
      case Change::kDelete: state.erase(change.key); break;
      case Change::kAdd: {
        std::string& counter = state.try_emplace(change.key, 8, '\0').first->second;
        int64_t sum = 0;
        counter.copy(reinterpret_cast<char*>(&sum), 8);
        sum += change.amount;
        counter.assign(reinterpret_cast<const char*>(&sum), 8);
      }
    }
  }
}

uint64_t Runs(uint64_t otherwise) {
  const char* given = std::getenv("BRAID_RUNS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

struct Totals {
  uint64_t commits = 0;
  uint64_t acknowledged = 0;
  uint64_t undone = 0;
  uint64_t starts = 0;
  uint64_t read_only = 0;
  std::map<std::string_view, uint64_t> faults;

  void Print(uint64_t runs) const {
    std::string text =
        StrCat(runs, " runs, ", starts, " starts, ", commits, " commits, ", acknowledged, " acknowledged, ", undone,
               " not acknowledged and undone, ", read_only, " times read-only; faults:");
    for (const auto& [name, count] : faults) text += StrCat(" ", name, " ", count, ",");
    std::printf("%s lost: 0\n", text.c_str());
  }
};

class Quiet {
 public:
  Quiet() : level_(spdlog::get_level()) { spdlog::set_level(spdlog::level::off); }
  ~Quiet() { spdlog::set_level(level_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  const spdlog::level::level_enum level_;
};

/// A store, its disk, and what should be in it.
class Machine {
 public:
  Machine(uint64_t seed, Totals& totals)
      : random_(seed), files_(std::make_shared<FaultyFileSystem>(random_.Next())), totals_(totals) {}

  void Run() {
    for (uint64_t lives = 1 + random_.Below(4); lives > 0; --lives) {
      Start();
      if (testing::Test::HasFatalFailure()) return;
      Work();
      if (testing::Test::HasFatalFailure()) return;
      Stop();
    }
    Start();
  }

 private:
  Result<std::unique_ptr<Store>> Open() {
    ++totals_.starts;
    return Store::Open({.directory = "/store", .cache_bytes = 1 << 20, .file_system = files_});
  }

  /// Opens on what is left, sometimes failing on the way, and compares.
  void Start() {
    while (random_.Chance(1, 4)) {
      Arm(random_.Below(60));
      {
        const auto opened = Open();
        if (files_->Fired()) ++totals_.faults["during a start"];
        if (!opened.ok()) {
          ASSERT_TRUE(files_->Fired()) << opened.error().ToString();
          ASSERT_NE(opened.error().code(), Code::kStorageCorrupt) << opened.error().ToString();
        }
        random_.Chance(1, 2) ? files_->LosePower() : files_->Kill();
      }
      files_->Restart();
    }
    auto opened = Open();
    ASSERT_OK(opened);
    store_ = std::move(*opened);
    Compare();
  }

  void Arm(uint64_t calls) {
    fault_ = kFaults[random_.Below(std::size(kFaults))];
    files_->Arm(fault_, fault_ == Fault::kFullDisk ? calls * 1000 : calls);
  }

  void Compare() {
    State found;
    const auto cursor = store_->NewCursor({"", ""}, {});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) found[std::string(cursor->key())] = cursor->value();
    ASSERT_OK(cursor->status());
    const auto last = found.find("last");
    const size_t survived = last == found.end() ? 0 : std::strtoull(last->second.c_str(), nullptr, 10);
    ASSERT_GE(survived, acknowledged_.load()) << "an acknowledged commit is lost";
    ASSERT_LE(survived, commits_.size());
    totals_.undone += commits_.size() - survived;
    commits_.resize(survived);
    State expected;
    for (const Changes& commit : commits_) Apply(commit, expected);
    if (found == expected) {
      acknowledged_ = survived;  // what a reader has seen after a start stays
      return;
    }
    for (const auto& [key, value] : expected) {
      EXPECT_EQ(found.contains(key), true) << key;
      if (found.contains(key)) {
        EXPECT_EQ(found[key] == value, true) << key;
      }
    }
    for (const auto& [key, value] : found) EXPECT_EQ(expected.contains(key), true) << key;
    FAIL() << "not the state after commit " << survived;
  }

  Changes RandomChanges() {
    Changes changes;
    for (uint64_t i = 1 + random_.Below(4); i > 0; --i) {
      const std::string key = StrCat("k", random_.Below(30));
      switch (random_.Below(4)) {
        case 0: changes.push_back({Change::kDelete, key, "", 0}); break;
        case 1:
          changes.push_back(
              {Change::kAdd, StrCat("n", random_.Below(3)), "", static_cast<int64_t>(random_.Below(1000)) - 500});
          break;
        default: {
          const size_t size = random_.Chance(1, 6) ? random_.Below(40000) : random_.Below(200);
          std::string value(size, static_cast<char>('a' + random_.Below(26)));
          for (size_t at = 0; at < size; at += 16) value[at] = static_cast<char>(random_.Next());
          changes.push_back({Change::kPut, key, std::move(value), 0});
        }
      }
    }
    changes.push_back({Change::kPut, "last", std::to_string(commits_.size() + 1), 0});
    return changes;
  }

  void Work() {
    if (random_.Chance(7, 8)) Arm(random_.Below(fault_ == Fault::kFullDisk ? 400 : 120));
    for (uint64_t steps = random_.Below(60); steps > 0; --steps) {
      if (random_.Chance(1, 25)) {
        store_->Compact().Ignore("may fail: then the store is read-only");
      } else if (random_.Chance(1, 10)) {
        Buffer buffer;
        store_->Get(StrCat("k", random_.Below(30)), {}, &buffer).Ignore("may fail, which is no harm");
      } else if (!Commit()) {
        break;
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    if (files_->Fired()) ++totals_.faults[FaultName(fault_)];
    CheckReadOnly();
  }

  /// False: the store refuses.
  bool Commit() {
    commits_.push_back(RandomChanges());
    WriteSet writes(*store_);
    for (const Change& change : commits_.back()) {
      switch (change.kind) {
        case Change::kPut: writes.Put(change.key, change.value); break;
        case Change::kDelete: writes.Delete(change.key); break;
        case Change::kAdd: writes.Add(change.key, change.amount); break;
      }
    }
    ++totals_.commits;
    const auto position = store_->Commit(writes);
    Status status = position.status();
    if (status.ok()) {
      const size_t number = commits_.size();
      const auto acknowledge = [this, number](const Status& durable) {
        if (durable.ok() && number > acknowledged_) acknowledged_ = number;
      };
      switch (random_.Below(3)) {
        case 0: break;  // nobody waits
        case 1:
          store_->WhenDurable(*position, [acknowledge](const Status& durable, size_t) { acknowledge(durable); });
          break;
        default:
          status = store_->WaitDurable(*position);
          acknowledge(status);
          if (status.ok()) ++totals_.acknowledged;
      }
    }
    if (status.ok()) return true;
    EXPECT_EQ(status.code(), Code::kStoreReadOnly) << status.ToString();
    EXPECT_TRUE(files_->Fired()) << status.ToString();
    return false;
  }

  void CheckReadOnly() {
    const Status state = store_->writable();
    if (state.ok()) return;
    ++totals_.read_only;
    EXPECT_TRUE(files_->Fired()) << state.ToString();
    EXPECT_EQ(state.code(), Code::kStoreReadOnly);
    WriteSet writes(*store_);
    writes.Put("refused", "");
    EXPECT_EQ(store_->Commit(writes).status().code(), Code::kStoreReadOnly);
    if (fault_ == Fault::kPowerLoss || fault_ == Fault::kReadError) return;
    Buffer buffer;
    EXPECT_OK(store_->Get("last", {}, &buffer));  // reads go on
  }

  void Stop() {
    switch (random_.Below(3)) {
      case 0: break;  // in order, if the disk still allows it
      case 1: files_->Kill(); break;
      default: files_->LosePower();
    }
    store_.reset();
    if (random_.Chance(1, 2)) files_->LosePower();
    files_->Restart();
  }

  Random random_;
  const std::shared_ptr<FaultyFileSystem> files_;
  Totals& totals_;
  Fault fault_ = Fault::kPowerLoss;
  std::vector<Changes> commits_;
  std::atomic<size_t> acknowledged_{0};
  std::unique_ptr<Store> store_;
};

TEST(PowerLossTest, NothingAcknowledgedIsLost) {
  const Quiet quiet;
  Random seeds(test::Seed());
  Totals totals;
  const uint64_t runs = Runs(150);
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE(StrCat("run ", run));
    Machine(seeds.Next(), totals).Run();
    if (HasFailure()) return;
  }
  totals.Print(runs);
}

// What is written at an orderly end and not synced, because that fails, may be gone when the power fails much later.
TEST(PowerLossTest, SyncThatFailsAtTheEnd) {
  const Quiet quiet;
  Random random(test::Seed());
  for (int run = 0; run < 40; ++run) {
    SCOPED_TRACE(StrCat("run ", run));
    const auto files = std::make_shared<FaultyFileSystem>(random.Next());
    const StoreOptions options{.directory = "/store", .cache_bytes = 1 << 20, .file_system = files};
    for (int life = 0; life < 3; ++life) {
      auto store = Store::Open(options);
      ASSERT_OK(store);
      for (int key = 0; key < life; ++key) {
        Buffer buffer;
        const auto found = (*store)->Get(StrCat("key", key), {}, &buffer);
        ASSERT_OK(found);
        ASSERT_TRUE(*found) << key;
      }
      WriteSet writes(**store);
      writes.Put(StrCat("key", life), "1");
      const auto position = (*store)->Commit(writes);
      ASSERT_OK(position);
      ASSERT_OK((*store)->WaitDurable(*position));
      life == 0 ? files->Arm(Fault::kSyncError, random.Below(4)) : files->LosePower();
      store->reset();
      files->Restart();
    }
  }
}

// Several writers at once: of each a prefix survives that has all it was told is durable, and the counter of all of
// them is the sum of what survived.
TEST(PowerLossTest, WritersSideBySide) {
  const Quiet quiet;
  Random random(test::Seed());
  constexpr size_t kWriters = 3;
  const auto runs = Runs(150) / 6;
  uint64_t commits = 0;
  uint64_t syncs = 0;
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE(StrCat("run ", run));
    const auto files = std::make_shared<FaultyFileSystem>(random.Next());
    const StoreOptions options{.directory = "/store", .cache_bytes = 1 << 20, .file_system = files};
    auto store = Store::Open(options);
    ASSERT_OK(store);
    files->Arm(random.Chance(1, 2) ? Fault::kPowerLoss : Fault::kSyncError, random.Below(100));
    std::array<uint64_t, kWriters> acknowledged{};
    std::vector<std::thread> writers;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&store, &acknowledged, writer, seed = random.Next()] {
        Random mine(seed);
        for (uint64_t count = 1; count <= 60; ++count) {
          WriteSet writes(**store);
          writes.Put(StrCat("writer", writer), std::to_string(count));
          writes.Put(StrCat("filler", writer), std::string(mine.Below(8000), 'x'));
          writes.Add("total", 1);
          const auto position = (*store)->Commit(writes);
          if (!position.ok()) return;
          if (mine.Chance(1, 3)) continue;
          if (!(*store)->WaitDurable(*position).ok()) return;
          acknowledged[writer] = count;
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    commits += (*store)->figures().commits;
    syncs += (*store)->figures().syncs;
    random.Chance(1, 2) ? files->LosePower() : files->Kill();
    store->reset();
    files->Restart();
    store = Store::Open(options);
    ASSERT_OK(store);
    int64_t sum = 0;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      Buffer buffer;
      const auto found = (*store)->Get(StrCat("writer", writer), {}, &buffer);
      ASSERT_OK(found);
      const uint64_t survived = *found ? std::strtoull(std::string(buffer.view()).c_str(), nullptr, 10) : 0;
      ASSERT_GE(survived, acknowledged[writer]) << "writer " << writer;
      sum += static_cast<int64_t>(survived);
    }
    const auto total = (*store)->ReadCounter("total", {});
    ASSERT_OK(total);
    ASSERT_EQ(*total, sum);
  }
  std::printf("%s\n", StrCat(runs, " runs, ", commits, " commits, ", syncs, " syncs, lost: 0").c_str());
}

// A changed byte of a table file: a read gives what was written or says that it cannot, and then the writing ends.
TEST(PowerLossTest, DamagedTablesAreNeverReadInSilence) {
  const Quiet quiet;
  Random random(test::Seed());
  const auto runs = Runs(150) / 6;
  uint64_t noticed = 0;
  for (uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE(StrCat("run ", run));
    const auto files = std::make_shared<FaultyFileSystem>(random.Next());
    const StoreOptions options{.directory = "/store", .cache_bytes = 1 << 20, .file_system = files};
    auto store = Store::Open(options);
    ASSERT_OK(store);
    WriteSet writes(**store);
    for (int key = 0; key < 200; ++key) writes.Put(StrCat("key", key), StrCat("value", key));
    ASSERT_OK((*store)->Commit(writes));
    ASSERT_OK((*store)->Compact());
    store->reset();
    ASSERT_TRUE(files->DamageTable());
    store = Store::Open(options);
    if (!store.ok()) {
      ASSERT_EQ(store.error().code(), Code::kStorageCorrupt) << store.error().ToString();
      ASSERT_NE(store.error().message().find(".sst"), std::string_view::npos) << store.error().message();
      ++noticed;
      continue;
    }
    bool failed = false;
    for (int key = 0; key < 200; ++key) {
      Buffer buffer;
      const auto found = (*store)->Get(StrCat("key", key), {}, &buffer);
      if (!found.ok()) {
        failed = true;
        ASSERT_EQ(found.error().code(), Code::kStorageCorrupt) << found.error().ToString();
        continue;
      }
      ASSERT_TRUE(*found) << key;
      ASSERT_EQ(buffer.view(), StrCat("value", key));
    }
    ASSERT_EQ((*store)->writable().ok(), !failed);
    noticed += failed;
  }
  std::printf("%s\n", StrCat(runs, " changed bytes, ", noticed, " noticed, the others without effect").c_str());
}

}  // namespace
}  // namespace braid::storage
