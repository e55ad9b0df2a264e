// Writers: order, back-pressure, hand-over, retries and shutdown (C3, C4, C7, C9).
#include <atomic>
#include <thread>

#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

using std::chrono::milliseconds;

class ChainWritersTest : public ChainsStoreTest {
 protected:
  static std::unique_ptr<ChainWriters> Start(Chains& chains, const ChainWritersOptions& options = {}) {
    auto started = ChainWriters::Start(chains, options);
    EXPECT_OK(started);
    return *std::move(started);
  }
  static ChainWriters::Done CountInto(std::atomic<int64_t>& stored) {
    return [&stored](const Appended& appended) {
      EXPECT_OK(appended.status);
      ++stored;
    };
  }
};
INSTANTIATE_ON_STORES(ChainWritersTest);

TEST_P(ChainWritersTest, EveryRecordIsStoredOnceAndInOrder) {
  const auto chains = Open();
  const auto writers = Start(*chains);
  std::atomic<int64_t> stored = 0;
  for (int64_t i = 1; i <= 3000; ++i) ASSERT_OK(writers->Submit(RecordOf(i % 20, i), CountInto(stored)));
  writers->Flush();
  EXPECT_EQ(stored, 3000);
  EXPECT_EQ(Merged(*chains).size(), 3000u);
  int64_t records = 0;
  for (const ChainWriterFigures& figures : writers->Figures()) records += figures.records;
  EXPECT_EQ(records, 3000);
  EXPECT_EQ(writers->Figures().size(), 8u);
  ExpectSound(*chains);
}

TEST_P(ChainWritersTest, TheFutureTellsTheOutcome) {
  const auto chains = Open();
  const auto writers = Start(*chains);
  auto first = writers->Submit(RecordOf(1, 5));
  auto fork = writers->Submit(RecordOf(1, 4));
  auto past = writers->Submit(RecordOf(1, 6));
  auto other = writers->Submit(RecordOf(2, 7));
  ASSERT_OK(first);
  EXPECT_OK(first->get().status);
  EXPECT_EQ(fork->get().status.code(), Code::kChainBroken);
  EXPECT_EQ(past->get().status.code(), Code::kChainHalted);
  EXPECT_OK(other->get().status);
}

TEST_P(ChainWritersTest, AFullQueueRefusesOrMakesWait) {
  const auto chains = Open();
  std::promise<void> open_gate;
  const std::shared_future<void> gate = open_gate.get_future().share();
  std::promise<void> at_gate;
  const auto writers = Start(*chains, {.writers = 1, .batch_records_max = 1, .queue_records_max = 2});
  // The only writer stands in this callback until the gate opens.
  ASSERT_OK(writers->Submit(RecordOf(1, 1), [&](const Appended&) {
    at_gate.set_value();
    gate.wait();
  }));
  at_gate.get_future().wait();
  std::atomic<int64_t> stored = 0;
  ASSERT_OK(writers->Submit(RecordOf(1, 2), CountInto(stored)));
  ASSERT_OK(writers->Submit(RecordOf(1, 3), CountInto(stored), ChainWriters::WhenFull::kRefuse));
  EXPECT_EQ(writers->Submit(RecordOf(1, 4), CountInto(stored), ChainWriters::WhenFull::kRefuse).code(),
            Code::kQueueFull);
  EXPECT_EQ(writers->Figures()[0].queue_depth, 2u);
  std::atomic<bool> submitted = false;
  std::thread waiting([&] {
    EXPECT_OK(writers->Submit(RecordOf(1, 4), CountInto(stored)));
    submitted = true;
  });
  EXPECT_FALSE(submitted);  // the queue cannot move before the gate opens
  open_gate.set_value();
  waiting.join();
  EXPECT_OK(writers->Stop());
  EXPECT_EQ(stored, 3);
}

TEST_P(ChainWritersTest, StopDrainsAndThenRefuses) {
  const auto chains = Open();
  const auto writers = Start(*chains, {.batch_records_max = 10, .batch_delay = milliseconds(1000)});
  std::atomic<int64_t> stored = 0;
  for (int64_t i = 1; i <= 505; ++i) ASSERT_OK(writers->Submit(RecordOf(i % 3, i), CountInto(stored)));
  EXPECT_OK(writers->Stop());
  EXPECT_EQ(stored, 505);
  EXPECT_EQ(writers->Submit(RecordOf(1, 506), nullptr).code(), Code::kShutdownInProgress);
  EXPECT_EQ(writers->GiveOwnWriter(1).code(), Code::kShutdownInProgress);
  EXPECT_OK(writers->Stop());
  EXPECT_EQ(Merged(*chains).size(), 505u);
}

// A record that names the hash before it would be refused the moment two were swapped, lost or written by two writers.
TEST_P(ChainWritersTest, HandOverEveryFewMillisecondsNeitherReordersNorForks) {
  const auto chains = Open();
  ChainWritersOptions options;
  options.writers = 3;
  options.batch_records_max = 20;
  options.batch_delay = milliseconds(0);
  options.interval = milliseconds(10);
  const auto writers = Start(*chains, options);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> moves = 0;
  std::thread mover([&] {
    Random random(test::Seed());
    while (!stop) {
      const auto chain = static_cast<int64_t>(random.Below(4));
      switch (random.Below(3)) {
        case 0: EXPECT_OK(writers->GiveOwnWriter(chain)); break;
        case 1: EXPECT_OK(writers->TakeBack(chain)); break;
        default: EXPECT_OK(writers->Resize(static_cast<uint32_t>(1 + random.Below(4))));
      }
      ++moves;
      std::this_thread::sleep_for(milliseconds(1));  // the pace of the test, not a wait for anything
    }
  });
  std::atomic<int64_t> stored = 0;
  std::map<int64_t, ChainHash> heads;
  int64_t sequence = 0;
  while (sequence < 8000 || moves < 200) {
    ++sequence;
    ChainRecord record = RecordOf(sequence % 4, sequence, StrCat("record ", sequence));
    ChainHash& head = heads[record.chain];
    record.prev_hash = head;
    head = HashChainRecord({.chain = record.chain, .sequence = sequence, .prev_hash = head, .payload = record.payload});
    record.hash = head;
    ASSERT_OK(writers->Submit(std::move(record), CountInto(stored)));
  }
  writers->Flush();
  stop = true;
  mover.join();
  EXPECT_OK(writers->Stop());
  EXPECT_EQ(stored, sequence);
  EXPECT_EQ(static_cast<int64_t>(Merged(*chains).size()), sequence);
  ExpectSound(*chains);
}

TEST_P(ChainWritersTest, AHotChainGetsItsOwnWriterAndGivesItBack) {
  const auto chains = Open();
  ChainWritersOptions options;
  options.writers = 2;
  options.batch_records_max = 50;
  options.interval = milliseconds(50);
  const auto writers = Start(*chains, options);
  std::atomic<int64_t> stored = 0;
  int64_t sequence = 0;
  const auto own_chain = [&]() -> std::optional<int64_t> {
    for (const ChainWriterFigures& figures : writers->Figures()) {
      if (figures.own_chain) return figures.own_chain;
    }
    return std::nullopt;
  };
  const auto until = [&](int64_t share_of_10, auto condition) {  // of chain 7
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      ++sequence;
      const int64_t chain = sequence % 10 < share_of_10 ? 7 : sequence % 6;
      ASSERT_OK(writers->Submit(RecordOf(chain, sequence), CountInto(stored)));
    }
  };
  until(9, [&] { return own_chain() == 7; });
  EXPECT_EQ(writers->Figures().size(), 3u);
  until(1, [&] { return !own_chain(); });
  EXPECT_EQ(writers->Figures().size(), 2u);
  EXPECT_OK(writers->Stop());
  EXPECT_EQ(stored, sequence);
  ExpectSound(*chains);
}

TEST_P(ChainWritersTest, SharedRecordsKeepTheirPlaceInEveryChain) {
  const auto chains = Open();
  ChainWritersOptions options;
  options.writers = 4;
  options.batch_records_max = 7;
  options.batch_delay = milliseconds(0);
  const auto writers = Start(*chains, options);
  Random random(test::Seed());
  std::atomic<int64_t> stored = 0;
  for (int64_t i = 1; i <= 1500; ++i) {
    ChainRecord record = RecordOf(static_cast<int64_t>(random.Below(6)), i);
    for (int64_t other = 0; other < 6; ++other) {
      if (other != record.chain && random.Chance(1, 8)) record.also.push_back(other);
    }
    ASSERT_OK(writers->Submit(std::move(record), CountInto(stored)));
    if (random.Chance(1, 50)) ASSERT_OK(writers->Resize(static_cast<uint32_t>(1 + random.Below(5))));
  }
  EXPECT_OK(writers->Stop());
  EXPECT_EQ(stored, 1500);
  EXPECT_EQ(Merged(*chains).size(), 1500u);
  ExpectSound(*chains);
}

TEST_P(ChainWritersTest, OptionsAreChecked) {
  const auto chains = Open();
  EXPECT_EQ(ChainWriters::Start(*chains, {.writers = 0}).status().code(), Code::kBadValue);
  EXPECT_EQ(ChainWriters::Start(*chains, {.batch_records_max = 10'001}).status().code(), Code::kBadValue);
  EXPECT_EQ(Start(*chains)->Resize(257).code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid::chains
