// The property: after any grows and pops, of small epochs and of large ones, in this process and the next, everything
// is as if only the surviving epochs had ever been grown.
#include <thread>

#include "patterns/timeline/testing.h"

namespace braid::timeline {
namespace {

using boost::multiprecision::cpp_int;

class TimelinePropertyTest : public TimelineStoreTest {
 protected:
  // The window of the newest entries at an epoch against a recount of the epochs up to it.
  void ExpectWindows(Timeline& timeline, const std::vector<TestEpoch>& chain, const std::string& at) {
    std::vector<cpp_int> weights;
    for (const TestEpoch& epoch : chain) {
      for (int i = 0; i < epoch.entries; ++i) weights.push_back(epoch.Weight(i));
      if (epoch.hash == at) break;
    }
    for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{17}, int64_t{1'000'000}}) {
      Timeline::Window window;
      ASSERT_OK(timeline.Read(at, [&](Transaction& transaction, const EpochState& state) -> Status {
        EXPECT_EQ(state.LengthOf(kOrder), static_cast<int64_t>(weights.size()));
        BRAID_TRY(window, timeline.NewestOf(transaction, state, kOrder, size));
        return {};
      }));
      const size_t entries = std::min(weights.size(), static_cast<size_t>(size));
      ASSERT_EQ(window.entries, static_cast<int64_t>(entries));
      ASSERT_EQ(window.first, static_cast<int64_t>(weights.size() - entries));
      cpp_int sum = 0;
      for (size_t i = weights.size() - entries; i < weights.size(); ++i) sum += weights[i];
      if (weights.empty()) continue;
      EXPECT_EQ(window.sums["weight"], sum.str());
      EXPECT_EQ(window.sums["count"], StrCat(entries));
    }
  }
};
INSTANTIATE_ON_STORES(TimelinePropertyTest);

TEST_P(TimelinePropertyTest, OnlyTheSurvivorsCount) {
  Random random(test::Seed());
  TimelineOptions options = Options();
  options.transaction_documents_max = 20;  // many epochs are larger
  auto timeline = Open(options);
  std::vector<TestEpoch> chain;
  std::vector<TestEpoch> popped;  // the newest that were, lowest first
  const auto pop = [&](size_t count) {
    popped.assign(chain.end() - static_cast<std::ptrdiff_t>(count), chain.end());
    chain.resize(chain.size() - count);
    const auto tip = timeline->PopTo(chain.empty() ? -1 : chain.back().number);
    ASSERT_OK(tip);
    EXPECT_EQ(tip->hash, chain.empty() ? "" : chain.back().hash);
  };
  for (int step = 0; step < 60; ++step) {
    const uint64_t what = random.Below(10);
    if (what < 5 || chain.empty()) {
      std::vector<TestEpoch> added;
      for (uint64_t count = 1 + random.Below(4); count > 0; --count) {
        const TestEpoch* parent = !added.empty() ? &added.back() : chain.empty() ? nullptr : &chain.back();
        const bool large = random.Chance(1, 6);
        added.push_back(EpochAfter(parent, StrCat("b", random.Below(3)), static_cast<int>(random.Below(large ? 90 : 6)),
                                   static_cast<int>(random.Below(large ? 30 : 4))));
      }
      ASSERT_OK(GrowAll(*timeline, added));
      chain.insert(chain.end(), added.begin(), added.end());
    } else if (what < 8) {
      pop(1 + random.Below(std::min<size_t>(chain.size(), 3)));
    } else if (what == 8) {  // A → B → A
      pop(std::min<size_t>(chain.size(), 2));
      const std::vector<TestEpoch> back = popped;
      std::vector<TestEpoch> other;
      other.push_back(EpochAfter(chain.empty() ? nullptr : &chain.back(), "other"));
      ASSERT_OK(GrowAll(*timeline, other));
      ASSERT_OK(timeline->PopTo(chain.empty() ? -1 : chain.back().number));
      ASSERT_OK(GrowAll(*timeline, back));
      chain.insert(chain.end(), back.begin(), back.end());
    } else if (random.Chance(1, 2)) {
      pop(1 + random.Below(chain.size()));
    } else {
      timeline.reset();
      store_.Restart();
      timeline = Open(options);
    }
    if (step % 15 == 14) ExpectOnly(*timeline, chain);
    if (!chain.empty() && step % 5 == 0) ExpectWindows(*timeline, chain, chain[random.Below(chain.size())].hash);
    if (HasFatalFailure()) return;
  }
  ExpectOnly(*timeline, chain);
}

// Several threads grow and pop one chain; each sees what the others did, and what is left is sound.
TEST_P(TimelinePropertyTest, GrowersAndPoppersAtOnce) {
  TimelineOptions options = Options();
  options.transaction_documents_max = 12;
  const auto timeline = Open(options);
  const uint64_t seed = test::Seed();
  std::atomic<int64_t> grown = 0;
  const auto work = [&](int thread) {
    Random random(seed + static_cast<uint64_t>(thread));
    for (int round = 0; round < 15; ++round) {
      if (random.Chance(1, 4)) {
        const auto tip = timeline->Tip();
        ASSERT_OK(tip);
        const auto popped = timeline->PopTo(tip->number - (tip->empty() ? 0 : 1));
        EXPECT_TRUE(popped.ok() || popped.error().code() == Code::kBadValue) << popped.error().ToString();
        continue;
      }
      const int things = random.Chance(1, 4) ? 30 : 3;
      const auto plan = [&](Growth& growth) {
        TestEpoch last{.number = growth.tip().number, .hash = growth.tip().hash};
        return PlanEpoch(growth,
                         EpochAfter(growth.tip().empty() ? nullptr : &last, StrCat("t", thread, "r", round), things));
      };
      const auto stored = timeline->Grow(plan);
      ASSERT_OK(stored);
      EXPECT_EQ(stored->epochs, 1);
      ++grown;
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(grown, 0);
  const auto verified = timeline->Verify(nullptr, nullptr);
  ASSERT_OK(verified);
  for (const TimelineDamage& damage : verified->damage) ADD_FAILURE() << damage.epoch << ": " << damage.what;
  EXPECT_EQ(verified->documents, Count(kThings) + Count(kOrder) + Count(kVersions));
}

// While epochs come and go, a reader sees whole epochs, and a verification finds nothing.
TEST_P(TimelinePropertyTest, ReadersAndVerifiersSeeWholeEpochs) {
  TimelineOptions options = Options();
  options.transaction_documents_max = 20;
  const auto timeline = Open(options);
  std::vector<TestEpoch> chain;
  Extend(chain, 5, "a");
  ASSERT_OK(GrowAll(*timeline, chain));
  std::atomic<bool> done = false;
  std::jthread writing([&] {
    for (int round = 0; round < 25; ++round) {
      std::vector<TestEpoch> switched(chain.begin(), chain.begin() + 3);
      Extend(switched, 3, StrCat("r", round), round % 3 == 0 ? 40 : 3);
      EXPECT_OK(timeline->PopTo(switched[2].number));
      EXPECT_OK(GrowAll(*timeline, {switched.begin() + 3, switched.end()}));
    }
    done = true;
  });
  int64_t reads = 0;
  while (!done) {
    int64_t visible = 0;
    int64_t expected = 0;
    ASSERT_OK(timeline->Read("", [&](Transaction& transaction, const EpochState& at) -> Status {
      visible = expected = 0;
      BRAID_CHECK_OK(timeline->ForEachEpochDown(transaction, at.number, 100, [&](const EpochState& epoch) {
        expected += epoch.documents;
        return Status();
      }));
      for (const std::string& collection : options.collections) {
        client::Bson filter;
        Timeline::AppendVisible(at, filter);
        BRAID_CHECK_OK(transaction.Find(collection, filter.get(), [&](const bson_t&) {
          ++visible;
          return Status();
        }));
      }
      return {};
    }));
    EXPECT_EQ(visible, expected);
    if (++reads % 5 != 0) continue;
    const auto verified = timeline->Verify(nullptr, nullptr);
    ASSERT_OK(verified);
    for (const TimelineDamage& damage : verified->damage) ADD_FAILURE() << damage.epoch << ": " << damage.what;
  }
}

}  // namespace
}  // namespace braid::timeline
