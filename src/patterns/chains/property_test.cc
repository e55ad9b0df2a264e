// Any interleaving of appends, duplicates, gaps, forks, shared records, hand-overs, thefts of leases, repairs and
// restarts leaves every chain valid, complete and without a fork. A plain model says what must come out of each call.
#include <set>

#include "braid/clock.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

constexpr int64_t kChainsWritten = 4;
constexpr int kProcesses = 2;

// What the chains must hold, and what they must answer.
class Model {
 public:
  struct Chain {
    std::map<int64_t, ChainRecord> records;
    ChainHash hash{};
    int holder = -1;  // the process that has the lease
    bool broken = false;
    std::map<int64_t, ChainRecord> awaits;  // what was held back
    int64_t head() const { return records.empty() ? 0 : records.rbegin()->first; }
    bool halted() const { return broken || !awaits.empty(); }
    bool HaltedFor(int64_t sequence) const { return broken || (!awaits.empty() && sequence > awaits.begin()->first); }
  };

  Chain& operator[](int64_t chain) { return chains_[chain]; }
  std::map<int64_t, Chain>& chains() { return chains_; }

  /// The answer that process `by` must get, kOk for a record that is stored now or was before.
  Code Submit(int by, const ChainRecord& record) {
    std::set<int64_t> all(record.also.begin(), record.also.end());
    all.insert(record.chain);
    Code answer = Code::kOk;
    size_t fresh = 0;
    std::set<int64_t> broken;
    for (const int64_t number : all) {
      const Code code = Judge(by, chains_[number], record, number == record.chain, fresh);
      if (code != Code::kOk && (answer == Code::kOk || code == Code::kChainBroken)) answer = code;
      if (code == Code::kChainBroken) broken.insert(number);
    }
    for (const int64_t number : broken) chains_[number].broken = true;
    if (answer == Code::kChainBroken || answer == Code::kChainHalted) HoldBack(by, record, all);
    if (answer != Code::kOk || fresh == 0) return answer;
    EXPECT_EQ(fresh, all.size());
    for (const int64_t number : all) {
      Chain& chain = chains_[number];
      std::vector<int64_t> others(all.begin(), all.end());
      std::erase(others, number);
      chain.hash = HashChainRecord({.chain = number,
                                    .sequence = record.sequence,
                                    .prev_hash = chain.hash,
                                    .also = others,
                                    .payload = record.payload});
      chain.records[record.sequence] = record;
      chain.awaits.erase(chain.awaits.begin(), chain.awaits.upper_bound(record.sequence));
    }
    return Code::kOk;
  }

  std::vector<std::string> Merged() const {
    std::map<std::pair<int64_t, int64_t>, std::string> merged;  // sequence, smallest chain
    for (const auto& [number, chain] : chains_) {
      for (const auto& [sequence, record] : chain.records) {
        int64_t smallest = record.chain;
        for (const int64_t other : record.also) smallest = std::min(smallest, other);
        merged[{sequence, smallest}] = StrCat(sequence, "@", smallest, " ", record.payload);
      }
    }
    std::vector<std::string> texts;
    for (auto& [key, text] : merged) texts.push_back(std::move(text));
    return texts;
  }

 private:
  static Code Judge(int by, const Chain& chain, const ChainRecord& record, bool named, size_t& fresh) {
    if (chain.holder != by) return Code::kLeaseLost;
    const Code refused = chain.halted() ? Code::kChainHalted : Code::kChainBroken;
    if (record.sequence <= chain.head()) {
      const auto stored = chain.records.find(record.sequence);
      const bool same = stored != chain.records.end() && stored->second.payload == record.payload &&
                        stored->second.also == record.also && stored->second.chain == record.chain;
      return same ? Code::kOk : refused;
    }
    if (chain.HaltedFor(record.sequence)) return Code::kChainHalted;
    if (named && record.prev_hash && *record.prev_hash != chain.hash) return Code::kChainBroken;
    ++fresh;
    return Code::kOk;
  }

  // A shared record that one chain does not take is awaited by all of them, unless one has passed it.
  void HoldBack(int by, const ChainRecord& record, const std::set<int64_t>& all) {
    if (record.also.empty()) return;
    for (const int64_t number : all) {
      if (chains_[number].head() >= record.sequence) return;
    }
    for (const int64_t number : all) {
      if (chains_[number].holder == by) chains_[number].awaits[record.sequence] = record;
    }
  }

  std::map<int64_t, Chain> chains_;
};

class ChainPropertyTest : public ChainsStoreTest {
 protected:
  struct Process {
    ManualClock clock;
    std::unique_ptr<Chains> chains;
    std::unique_ptr<ChainWriters> writers;
  };

  void OpenAll() {
    for (int i = 0; i < kProcesses; ++i) {
      ChainsOptions options = Options(StrCat("process ", i));
      options.clock = &processes_[i].clock;
      processes_[i].chains = Open(options);
      ChainWritersOptions writing;
      writing.writers = 2;
      writing.batch_records_max = 5;
      writing.batch_delay = std::chrono::milliseconds(0);
      writing.interval = std::chrono::milliseconds(600'000);
      auto started = ChainWriters::Start(*processes_[i].chains, writing);
      ASSERT_OK(started);
      processes_[i].writers = *std::move(started);
    }
  }

  void Restart() {
    for (Process& process : processes_) {
      process.writers.reset();
      process.chains.reset();
    }
    store_.Restart();
    OpenAll();
    for (auto& [number, chain] : model_.chains()) chain.holder = -1;
  }

  // The thief's clock runs ahead, so that every lease has expired for it.
  void Steal(int by, int64_t chain) {
    now_ += std::chrono::milliseconds(20'000);
    processes_[by].writers->Flush();
    processes_[by].clock.Set(now_.count());
    ASSERT_OK(processes_[by].chains->AcquireLease(chain));
    model_[chain].holder = by;
  }

  ChainRecord NewRecord() {
    sequence_ += 1 + static_cast<int64_t>(random_.Below(3));
    const auto letter = static_cast<char>('a' + random_.Below(26));
    return RecordOf(AnyChain(), sequence_, std::string(random_.Below(200), letter));
  }

  ChainRecord AnyRecord() {
    ChainRecord record = NewRecord();
    Model::Chain& chain = model_[record.chain];
    switch (random_.Below(12)) {
      case 0:  // stored before
        if (!chain.records.empty()) {
          auto stored = chain.records.begin();
          std::advance(stored, random_.Below(chain.records.size()));
          record = stored->second;
          record.prev_hash.reset();
        }
        break;
      case 1:  // gap
        if (random_.Chance(1, 3)) record.prev_hash = ChainHash{1, 2, 3};
        break;
      case 2:  // fork
        if (random_.Chance(1, 3) && chain.head() > 0) {
          record.sequence = 1 + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(chain.head())));
          record.payload = StrCat("fork ", sequence_);
        }
        break;
      case 3:
      case 4:  // shared
        for (int64_t other = 0; other < kChainsWritten; ++other) {
          if (other != record.chain && random_.Chance(1, 2)) record.also.push_back(other);
        }
        break;
      case 5:
      case 6: record.prev_hash = chain.hash; break;
      case 7:  // held back before
        if (!chain.awaits.empty()) {
          record = chain.awaits.begin()->second;
          record.prev_hash.reset();
        }
        break;
      default: break;
    }
    return record;
  }

  void Burst() {
    const int by = static_cast<int>(random_.Below(kProcesses));
    ChainWriters& writers = *processes_[by].writers;
    std::vector<std::pair<std::future<Appended>, Code>> answers;
    const uint64_t count = 1 + random_.Below(30);
    for (uint64_t i = 0; i < count; ++i) {
      const ChainRecord record = AnyRecord();
      const Code expected = model_.Submit(by, record);
      auto future = writers.Submit(record);
      ASSERT_OK(future);
      answers.emplace_back(*std::move(future), expected);
      switch (random_.Below(20)) {
        case 0: ASSERT_OK(writers.GiveOwnWriter(AnyChain())); break;
        case 1: ASSERT_OK(writers.TakeBack(AnyChain())); break;
        case 2: ASSERT_OK(writers.Resize(static_cast<uint32_t>(1 + random_.Below(4)))); break;
        default: break;
      }
    }
    for (auto& [future, expected] : answers) {
      const Appended appended = future.get();
      if (expected == Code::kLeaseLost) {
        // A writer that lost its lease learns it when it has something to commit. What is stored already needs no
        // commit, and a shared record may be refused for another of its chains first. Nothing new may be accepted.
        ASSERT_TRUE(!appended.status.ok() || appended.duplicate);
      } else {
        ASSERT_EQ(appended.status.code(), expected) << appended.status.ToString();
      }
    }
  }

  void Step() {
    switch (random_.Below(10)) {
      case 0: Steal(static_cast<int>(random_.Below(kProcesses)), AnyChain()); break;
      case 1:
        for (auto& [number, chain] : model_.chains()) {
          if (!chain.halted()) continue;
          const bool skip = !chain.broken || random_.Chance(1, 2);
          ASSERT_OK(processes_[0].chains->Repair(
              number, {.action = skip ? RepairAction::kSkip : RepairAction::kResume, .by = "test", .reason = "go on"}));
          chain.broken = false;
          if (skip) chain.awaits.clear();
        }
        break;
      case 2: ASSERT_OK(processes_[random_.Below(kProcesses)].chains->RenewLeases()); break;
      default: Burst();
    }
  }

  void ExpectAsModel() {
    Chains& chains = *processes_[0].chains;
    ExpectSound(chains);
    EXPECT_EQ(Merged(chains), model_.Merged());
    const auto heads = chains.Heads();
    ASSERT_OK(heads);
    for (const ChainHead& head : *heads) {
      EXPECT_EQ(head.hash, model_[head.chain].hash);
      EXPECT_EQ(head.sequence, model_[head.chain].head());
      EXPECT_EQ(!head.halted.empty(), model_[head.chain].halted());
    }
  }

  int64_t AnyChain() { return static_cast<int64_t>(random_.Below(kChainsWritten)); }

  Random random_{test::Seed()};
  std::chrono::milliseconds now_{1'700'000'000'000};
  int64_t sequence_ = 0;
  Model model_;
  std::array<Process, kProcesses> processes_;
};
INSTANTIATE_ON_STORES(ChainPropertyTest);

TEST_P(ChainPropertyTest, ChainsAreAsThePlainModelSays) {
  for (int step = 0; step < 150 && !HasFatalFailure(); ++step) {
    if (step % 50 == 0) {
      Restart();
      ExpectAsModel();
      for (int64_t chain = 0; chain < kChainsWritten; ++chain)
        Steal(static_cast<int>(random_.Below(kProcesses)), chain);
    }
    Step();
  }
  ExpectAsModel();
  for (Process& process : processes_) process.writers.reset();
}

}  // namespace
}  // namespace braid::chains
