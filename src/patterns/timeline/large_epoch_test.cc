// Epochs that are larger than a transaction: invisible until they are complete, wherever a crash ends them.
#include <thread>

#include "patterns/timeline/state.h"
#include "patterns/timeline/testing.h"

namespace braid::timeline {
namespace {

class TimelineLargeEpochTest : public TimelineStoreTest {
 protected:
  void SetUp() override {
    options_ = Options();
    options_.transaction_documents_max = 10;
    timeline_ = Open(options_);
    Extend(chain_, 2, "a");
    ASSERT_OK(GrowAll(*timeline_, chain_));
    large_ = EpochAfter(&chain_.back(), "a", 30, 15);
  }
  Head StoredHead() {
    Head head;
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(head, ReadHead(transaction, options_));
      return {};
    }));
    return head;
  }
  // Documents beyond the tip that a reader must not see, and documents it must.
  void ExpectVisible(const std::vector<TestEpoch>& chain) {
    ASSERT_OK(timeline_->Read("", [&](Transaction& transaction, const EpochState& at) -> Status {
      EXPECT_EQ(at.hash, chain.back().hash);
      int64_t entries = 0;
      for (const TestEpoch& epoch : chain) entries += epoch.entries;
      EXPECT_EQ(at.LengthOf(kOrder), entries);
      int64_t seen = 0;
      BRAID_CHECK_OK(timeline_->ForEachEntry(transaction, kOrder, 0, entries, [&](const bson_t& entry) {
        EXPECT_LE(client::IntegerOf(&entry, "epoch"), at.number);
        ++seen;
        return Status();
      }));
      EXPECT_EQ(seen, entries);
      return timeline_->NewestOf(transaction, at, kOrder, 5).status();
    }));
  }
  // Opens the store again, as after a crash.
  void Reopen() {
    timeline_.reset();
    store_.Restart();
    timeline_ = Open(options_);
  }

  TimelineOptions options_;
  std::unique_ptr<Timeline> timeline_;
  std::vector<TestEpoch> chain_;
  TestEpoch large_;
};
INSTANTIATE_ON_STORES(TimelineLargeEpochTest);

TEST_P(TimelineLargeEpochTest, ALargeEpochIsOneEpoch) {
  const auto grown = timeline_->Grow([&](Growth& growth) { return PlanEpoch(growth, large_); });
  ASSERT_OK(grown);
  EXPECT_EQ(grown->epochs, 1);
  EXPECT_EQ(grown->tip.documents, large_.documents());
  chain_.push_back(large_);
  ExpectVisible(chain_);
  EXPECT_TRUE(StoredHead().clean());
  ExpectOnly(*timeline_, chain_);
  ASSERT_OK(timeline_->PopTo(1));
  chain_.pop_back();
  EXPECT_TRUE(StoredHead().clean());
  ExpectOnly(*timeline_, chain_);
}

// Only the epochs that fit are stored; a large one among them is left to the next call.
TEST_P(TimelineLargeEpochTest, WhatDoesNotFitIsPlannedAgain) {
  std::vector<TestEpoch> more = {EpochAfter(&chain_.back(), "a", 1, 1)};
  more.push_back(EpochAfter(&more.back(), "a", 3, 2));
  more.push_back(EpochAfter(&more.back(), "a", 30, 3));
  const auto plan = [&](Growth& growth) -> Status {
    for (const TestEpoch& epoch : more) BRAID_CHECK_OK(PlanEpoch(growth, epoch));
    EXPECT_TRUE(growth.full());
    return {};
  };
  const auto grown = timeline_->Grow(plan);
  ASSERT_OK(grown);
  EXPECT_EQ(grown->epochs, 2);
  EXPECT_EQ(grown->tip.hash, more[1].hash);
  chain_.insert(chain_.end(), more.begin(), more.begin() + 2);
  ExpectOnly(*timeline_, chain_);
}

// The bytes of a transaction are bounded too.
TEST_P(TimelineLargeEpochTest, LargeDocumentsMakeALargeEpoch) {
  options_.transaction_documents_max = 1000;
  options_.transaction_bytes_max = 1 << 20;
  timeline_ = Open(options_);
  const std::string text(400'000, 'x');
  int64_t plans = 0;
  const auto plan = [&](Growth& growth) -> Status {
    ++plans;
    BRAID_CHECK_OK(growth.Begin(2, "large", chain_.back().hash));
    for (int i = 0; i < 7; ++i) {
      bson_t* thing = growth.Add(kThings).get();
      BSON_APPEND_INT32(thing, "_id", i);
      BSON_APPEND_UTF8(thing, "text", text.c_str());
    }
    return {};
  };
  ASSERT_OK(timeline_->Grow(plan));
  EXPECT_EQ(plans, 1);
  const auto verified = timeline_->Verify(nullptr, nullptr);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->ok());
  EXPECT_EQ(verified->tip.documents, 7);
}

// After each of its transactions in turn the store goes away, and another process finds what is left.
TEST_P(TimelineLargeEpochTest, ACrashAtAnyStepOfAGrowthLeavesNothing) {
  const TestEpoch other = EpochAfter(&chain_.back(), "other", 2, 1);
  int unclean = 0;
  bool grown = false;
  for (int step = 0; step < 20 && !grown; ++step) {
    FailingClients failing(store_.clients());
    const auto doomed = Open(failing, options_);
    failing.Allow(step);
    grown = doomed->Grow([&](Growth& growth) { return PlanEpoch(growth, large_); }).ok();
    if (grown) break;
    Reopen();
    ExpectVisible(chain_);
    unclean += StoredHead().clean() ? 0 : 1;
    const auto verified = timeline_->Verify(nullptr, nullptr);  // leftovers that the head explains are no damage
    ASSERT_OK(verified);
    EXPECT_TRUE(verified->ok()) << step << ": " << verified->damage[0].what;
    if (step % 2 == 0) {
      ASSERT_OK(GrowAll(*timeline_, {other}));
      chain_.push_back(other);
      ExpectOnly(*timeline_, chain_);
      chain_.pop_back();
    } else {
      ASSERT_OK(timeline_->PopTo(0));
      ASSERT_OK(GrowAll(*timeline_, {chain_.back()}));
      ExpectOnly(*timeline_, chain_);
    }
    ASSERT_OK(timeline_->PopTo(1));
  }
  EXPECT_TRUE(grown);
  EXPECT_EQ(unclean, 5);  // 46 documents are five parts, and the mark comes first
  chain_.push_back(large_);
  ExpectOnly(*timeline_, chain_);
}

TEST_P(TimelineLargeEpochTest, ACrashAtAnyStepOfAPopIsFinishedLater) {
  bool popped = false;
  int unclean = 0;
  for (int step = 0; step < 20 && !popped; ++step) {
    ASSERT_OK(GrowAll(*timeline_, {large_}));
    FailingClients failing(store_.clients());
    const auto doomed = Open(failing, options_);
    failing.Allow(step);
    popped = doomed->PopTo(1).ok();
    Reopen();
    std::vector<TestEpoch> expected = chain_;
    if (step == 0) expected.push_back(large_);  // its first transaction already takes the epoch away
    ExpectVisible(expected);
    unclean += StoredHead().clean() ? 0 : 1;
    if (step % 2 == 0) {
      ASSERT_OK(timeline_->PopTo(1));
    } else {
      ASSERT_OK(timeline_->PopTo(0));
      ASSERT_OK(GrowAll(*timeline_, {chain_.back()}));
    }
    ExpectOnly(*timeline_, chain_);
  }
  EXPECT_TRUE(popped);
  EXPECT_EQ(unclean, 5);
}

// A document that is there already is found in a late part; what the earlier ones stored goes at once.
TEST_P(TimelineLargeEpochTest, AnErrorInALatePartLeavesNothing) {
  const auto plan = [&](Growth& growth) -> Status {
    BRAID_CHECK_OK(PlanEpoch(growth, large_));
    BSON_APPEND_UTF8(growth.Add(kVersions).get(), "_id", "key0@0");  // epoch 0 has it
    return {};
  };
  EXPECT_EQ(timeline_->Grow(plan).status().code(), Code::kDuplicateKey);
  EXPECT_TRUE(StoredHead().clean());
  ExpectOnly(*timeline_, chain_);
}

// Two processes with a large epoch each: they may take the mark away from each other, but one of them gets on.
TEST_P(TimelineLargeEpochTest, TwoLargeGrowthsAtOnce) {
  const auto grow = [&](const std::string& branch) {
    for (int i = 0; i < 3; ++i) {
      const auto grown = timeline_->Grow([&](Growth& growth) {
        const TestEpoch last{.number = growth.tip().number, .hash = growth.tip().hash};
        return PlanEpoch(growth, EpochAfter(&last, StrCat(branch, i), 25, 5));
      });
      ASSERT_OK(grown);
    }
  };
  std::thread other([&] { grow("x"); });
  grow("y");
  other.join();
  const auto verified = timeline_->Verify(nullptr, nullptr);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->ok());
  EXPECT_EQ(verified->tip.number, 7);
  EXPECT_EQ(Count(kThings), 2 * 3 + 6 * 25);
}

}  // namespace
}  // namespace braid::timeline
