// The service under the loads that C11 names: equal symbols, and one that has nearly all of the traffic and gets a
// writer of its own for as long (C7). What is stored, its order and its chains are checked; no time is.
#include <chrono>
#include <thread>

#include "base/mutex.h"
#include "services/settlement/testing.h"

namespace braid::settlement {
namespace {

/// An intake that checks that the outputs of a symbol are answered in the order they were submitted.
class Engine {
 public:
  explicit Engine(Settlement& settlement) : intake_(settlement, [this](const Answer& answer) { Answered(answer); }) {}
  void Submit(const std::string& line) { intake_.Submit(line); }
  /// How many were accepted, once all are answered.
  uint64_t Accepted() {
    intake_.Flush();
    EXPECT_TRUE(intake_.totals().all_stored());
    return intake_.totals()[Outcome::kAccepted];
  }

 private:
  void Answered(const Answer& answer) {
    const MutexLock lock(mu_);
    int64_t& newest = newest_[answer.symbol_id];
    EXPECT_EQ(answer.outcome, Outcome::kAccepted) << answer.status.ToString();
    EXPECT_GT(answer.output_seq, newest) << "of symbol " << answer.symbol_id;
    newest = answer.output_seq;
  }

  Mutex mu_;
  std::map<int64_t, int64_t> newest_ BRAID_GUARDED_BY(mu_);  // the newest answered output of each symbol
  Intake intake_;                                            // ends before what its answers need
};

class LoadTest : public SettlementStoreTest {
 protected:
  static bool HasOwnWriter(Settlement& settlement, int64_t symbol) {
    const std::vector<ChainWriterFigures> all = settlement.writers().Figures();
    return std::any_of(all.begin(), all.end(),
                       [&](const ChainWriterFigures& writer) { return writer.own_chain == symbol; });
  }
  /// Submits outputs with that share of symbol 1 until it has a writer of its own, or has it no more.
  void SubmitUntil(bool own, Settlement& settlement, GeneratorOptions how, Engine& engine,
                   std::vector<std::string>& lines) {
    how.first_sequence = static_cast<int64_t>(lines.size()) + 1;
    how.seed = test::Seed() + lines.size();
    Generator generator(how);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (HasOwnWriter(settlement, 1) != own) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << lines.size() << " outputs were not enough";
      for (int i = 0; i < 100; ++i) engine.Submit(lines.emplace_back(ToJson(generator.Next())));
    }
  }
};
INSTANTIATE_ON_STORES(LoadTest);

TEST_P(LoadTest, AHotSymbolHasAWriterOfItsOwnForAsLongAsItIsHot) {
  Options options = TestOptions();
  options.writers.queue_records_max =
      200;  // the load is what the writers can do, and no more is queued than a moment's
  options.writers.interval = std::chrono::milliseconds(50);
  const auto settlement = Open(options);
  std::vector<std::string> lines;
  {
    Engine engine(*settlement);
    for (int round = 0; round < 2; ++round) {
      SubmitUntil(true, *settlement, {.hot_percent = 90, .cross_percent = 5}, engine, lines);
      SubmitUntil(false, *settlement, {.hot_percent = 0, .cross_percent = 5}, engine, lines);
    }
    EXPECT_EQ(engine.Accepted(), lines.size());
  }
  EXPECT_EQ(Stored(settlement->chains()), lines);
  ExpectSound(settlement->chains());
}

// Eight engines, each with a symbol of its own.
TEST_P(LoadTest, EqualSymbolsSideBySide) {
  constexpr int64_t kSymbols = 8;
  constexpr int64_t kOutputs = 400;  // of each
  Options options;                   // as it is used: eight writers, large batches
  options.database = store_.database();
  const auto settlement = Open(options);
  std::vector<std::thread> engines;
  for (int64_t symbol = 1; symbol <= kSymbols; ++symbol) {
    engines.emplace_back([&settlement, symbol] {
      Engine engine(*settlement);
      for (int64_t i = 0; i < kOutputs; ++i) engine.Submit(ToJson(OutputOf(symbol, i * kSymbols + symbol)));
      EXPECT_EQ(engine.Accepted(), static_cast<uint64_t>(kOutputs));
    });
  }
  for (std::thread& engine : engines) engine.join();

  std::vector<std::string> expected;
  for (int64_t i = 0; i < kSymbols * kOutputs; ++i)
    expected.push_back(EncodePayload(OutputOf(i % kSymbols + 1, i + 1)));
  EXPECT_EQ(Stored(settlement->chains()), expected);
  ExpectSound(settlement->chains());
  const auto heads = settlement->chains().Heads();
  ASSERT_OK(heads);
  ASSERT_EQ(heads->size(), static_cast<size_t>(kSymbols));
  for (const ChainHead& head : *heads) EXPECT_EQ(head.records, kOutputs) << "symbol " << head.chain;
}

// One engine with the hot symbol, one with the others, which must not wait for it for ever; a reader counts meanwhile.
TEST_P(LoadTest, OneHotSymbolBesideOthersWhileTheLogIsVerified) {
  constexpr int64_t kHot = 3600;
  constexpr int64_t kOthers = 400;
  Options options = TestOptions();
  options.writers.interval = std::chrono::milliseconds(20);
  const auto settlement = Open(options);
  std::atomic<int> running = 2;
  std::thread hot([&] {
    Engine engine(*settlement);
    for (int64_t i = 1; i <= kHot; ++i) engine.Submit(ToJson(OutputOf(1, i)));
    EXPECT_EQ(engine.Accepted(), static_cast<uint64_t>(kHot));
    --running;
  });
  std::thread others([&] {
    Engine engine(*settlement);
    for (int64_t i = 1; i <= kOthers; ++i) engine.Submit(ToJson(OutputOf(2 + i % 7, kHot + i)));
    EXPECT_EQ(engine.Accepted(), static_cast<uint64_t>(kOthers));
    --running;
  });
  while (running > 0) ExpectSound(settlement->chains());
  hot.join();
  others.join();
  const auto report = settlement->chains().Verify({});
  ASSERT_OK(report);
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->records, kHot + kOthers);
  EXPECT_EQ(report->chains, 8);
}

}  // namespace
}  // namespace braid::settlement
