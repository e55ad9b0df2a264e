// Timeline: what is refused and changes nothing, reading as of an epoch, history, and the record of reorganisations.
#include "braid/timeline.h"

#include "patterns/timeline/testing.h"

namespace braid::timeline {
namespace {

class TimelineTest : public TimelineStoreTest {
 protected:
  void SetUp() override { timeline_ = Open(Options()); }
  Code Grow(const std::function<Status(Growth&)>& plan) { return timeline_->Grow(plan).status().code(); }
  void Grow(int count, const std::string& branch) {
    const size_t before = chain_.size();
    Extend(chain_, count, branch);
    ASSERT_OK(GrowAll(*timeline_, {chain_.begin() + static_cast<std::ptrdiff_t>(before), chain_.end()}));
  }
  void Pop(size_t count) {
    chain_.resize(chain_.size() - count);
    ASSERT_OK(timeline_->PopTo(chain_.empty() ? -1 : chain_.back().number));
  }

  std::unique_ptr<Timeline> timeline_;
  std::vector<TestEpoch> chain_;
};
INSTANTIATE_ON_STORES(TimelineTest);

TEST_P(TimelineTest, AnEmptyChain) {
  const auto tip = timeline_->Tip();
  ASSERT_OK(tip);
  EXPECT_TRUE(tip->empty());
  EXPECT_EQ(timeline_->Read("x", [](Transaction&, const EpochState&) { return Status(); }).code(),
            Code::kTimelineReorganised);
  ASSERT_OK(timeline_->PopTo(-1));
  EXPECT_EQ(timeline_->PopTo(0).status().code(), Code::kBadValue);
  ASSERT_OK(timeline_->Read("", [&](Transaction& transaction, const EpochState& at) -> Status {
    EXPECT_TRUE(at.empty());
    BRAID_TRY(const Timeline::Window window, timeline_->NewestOf(transaction, at, kOrder, 1000));
    EXPECT_EQ(window.entries, 0);
    EXPECT_TRUE(timeline_->StateOf(transaction, at, 0)->empty());
    return {};
  }));
  const auto verified = timeline_->Verify(nullptr, nullptr);
  ASSERT_OK(verified);
  EXPECT_TRUE(verified->ok());
  EXPECT_EQ(verified->epochs, 0);
}

TEST_P(TimelineTest, ThePlanMayBeginNothing) {
  Grow(2, "a");
  const auto grown = timeline_->Grow([](Growth& growth) {
    EXPECT_EQ(growth.tip().number, 1);
    EXPECT_FALSE(growth.full());
    return Status();
  });
  ASSERT_OK(grown);
  EXPECT_EQ(grown->epochs, 0);
  EXPECT_EQ(grown->tip.hash, chain_.back().hash);
  ExpectOnly(*timeline_, chain_);
}

TEST_P(TimelineTest, WhatDoesNotFollowIsRefused) {
  Grow(2, "a");
  const auto begin = [](int64_t number, const char* hash, const char* parent) {
    return [=](Growth& growth) { return growth.Begin(number, hash, parent); };
  };
  EXPECT_EQ(Grow(begin(3, "x", "a-1")), Code::kTimelineGap);
  EXPECT_EQ(Grow(begin(1, "x", "a-1")), Code::kTimelineGap);
  EXPECT_EQ(Grow(begin(2, "x", "a-0")), Code::kTimelineFork);
  EXPECT_EQ(Grow(begin(2, "", "a-1")), Code::kBadValue);
  const Status gap = timeline_->Grow(begin(7, "x", "a-1")).status();
  EXPECT_EQ(gap.message(), "epoch 7 cannot follow epoch 1: the next one is 2");
  ExpectOnly(*timeline_, chain_);
}

TEST_P(TimelineTest, TheParentMayBeTheTipItself) {
  ASSERT_OK(timeline_->Grow([](Growth& growth) -> Status {
    for (int64_t number = 0; number < 3; ++number) {
      BRAID_CHECK_OK(growth.Begin(number, StrCat("h", number), growth.tip().hash));
    }
    EXPECT_EQ(growth.tip().parent, "h1");
    return {};
  }));
  EXPECT_TRUE(timeline_->Verify(nullptr, nullptr)->ok());
}

// A plan that fails after it has added documents, whatever its mistake is.
TEST_P(TimelineTest, AMistakeOfThePlanChangesNothing) {
  Grow(2, "a");
  const TestEpoch next = EpochAfter(&chain_.back(), "a");
  const auto after = [&](const std::function<void(Growth&)>& mistake) {
    return Grow([&](Growth& growth) -> Status {
      BRAID_CHECK_OK(PlanEpoch(growth, next));
      mistake(growth);
      return {};
    });
  };
  EXPECT_EQ(Grow([&](Growth& growth) -> Status {
              BRAID_CHECK_OK(PlanEpoch(growth, next));
              return Status(Code::kIllegalOperation, "on second thoughts");
            }),
            Code::kIllegalOperation);
  EXPECT_EQ(after([](Growth& growth) { growth.Append(kOrder, {{"weight", "1.5"}}); }), Code::kBadValue);
  EXPECT_EQ(after([](Growth& growth) { growth.Append(kOrder, {{"a.b", "1"}}); }), Code::kBadValue);
  EXPECT_EQ(after([](Growth& growth) { growth.Add(kThings); }), Code::kBadValue);
  EXPECT_EQ(after([](Growth& growth) { BSON_APPEND_INT32(growth.Add(kThings).get(), "epoch", 1); }), Code::kBadValue);
  EXPECT_EQ(after([](Growth& growth) {
              bson_t* thing = growth.Add(kThings).get();
              BSON_APPEND_INT32(thing, "_id", 1);
              BSON_APPEND_INT32(thing, "epoch", 1);
            }),
            Code::kBadValue);
  EXPECT_EQ(after([](Growth& growth) { BSON_APPEND_UTF8(growth.Add(kThings).get(), "_id", "a-0:0"); }),
            Code::kDuplicateKey);
  ExpectOnly(*timeline_, chain_);
}

TEST_P(TimelineTest, EntriesHaveThePositionsAndSumsOfTheirList) {
  ASSERT_OK(timeline_->Grow([](Growth& growth) -> Status {
    BRAID_CHECK_OK(growth.Begin(7, "seven", "unknown"));
    EXPECT_EQ(growth.Append(kOrder, {{"weight", "5"}, {"count", "1"}}).position, 0);
    EXPECT_EQ(growth.Append(kOrder, {{"weight", "99999999999999999999"}, {"count", "1"}}).position, 1);
    EXPECT_EQ(growth.tip().LengthOf(kOrder), 2);
    BRAID_CHECK_OK(growth.Begin(8, "eight", "seven"));
    EXPECT_EQ(growth.Append(kOrder, {{"weight", "-4"}, {"count", "1"}}).position, 2);
    return {};
  }));
  std::vector<std::string> entries;
  ASSERT_OK(timeline_->Read("", [&](Transaction& transaction, const EpochState& at) -> Status {
    entries.clear();
    EXPECT_EQ(at.sums.at("order.weight"), "100000000000000000000");
    BRAID_TRY(const EpochState seven, timeline_->StateOf(transaction, at, 7));
    EXPECT_EQ(seven.LengthOf(kOrder), 2);
    EXPECT_EQ(seven.parent, "unknown");
    EXPECT_EQ(timeline_->ForEachEntry(transaction, kOrder, 1, 3, [](const bson_t&) { return Status(); }).code(),
              Code::kRecordDamaged);
    return timeline_->ForEachEntry(transaction, kOrder, 0, 3, [&](const bson_t& entry) {
      char* json = bson_as_relaxed_extended_json(&entry, nullptr);
      entries.emplace_back(json);
      bson_free(json);
      return Status();
    });
  }));
  EXPECT_EQ(entries,
            std::vector<std::string>(
                {R"({ "_id" : 0, "sums" : { "count" : "1", "weight" : "5" }, "epoch" : 7 })",
                 R"({ "_id" : 1, "sums" : { "count" : "2", "weight" : "100000000000000000004" }, "epoch" : 7 })",
                 R"({ "_id" : 2, "sums" : { "count" : "3", "weight" : "100000000000000000000" }, "epoch" : 8 })"}));
  EXPECT_EQ(timeline_->PopTo(5).status().code(), Code::kBadValue);
  ASSERT_OK(timeline_->PopTo(6));
  EXPECT_TRUE(timeline_->Tip()->empty());
  ASSERT_OK(timeline_->PopTo(6));
}

// A reader that names a pivot gets the state of then, as long as the pivot is in the chain.
TEST_P(TimelineTest, ReadsAsOfAnyEpoch) {
  Grow(6, "a");
  const std::vector<TestEpoch> old = chain_;
  for (const TestEpoch& epoch : old) {
    ASSERT_OK(timeline_->Read(epoch.hash, [&](Transaction& transaction, const EpochState& at) -> Status {
      EXPECT_EQ(at.number, epoch.number);
      EXPECT_EQ(at.LengthOf(kOrder), 2 * (epoch.number + 1));
      client::Bson filter;
      Timeline::AppendVisible(at, filter);
      int64_t things = 0;
      BRAID_CHECK_OK(transaction.Find(kThings, filter.get(), [&](const bson_t&) {
        ++things;
        return Status();
      }));
      EXPECT_EQ(things, 3 * (epoch.number + 1));
      EXPECT_TRUE(timeline_->StateOf(transaction, at, at.number + 1)->empty());
      std::vector<int64_t> down;
      BRAID_CHECK_OK(timeline_->ForEachEpochDown(transaction, at.number, 3, [&](const EpochState& state) {
        down.push_back(state.number);
        return Status();
      }));
      std::vector<int64_t> expected;
      for (int64_t number = at.number; number >= 0 && number > at.number - 3; --number) expected.push_back(number);
      EXPECT_EQ(down, expected);
      return {};
    }));
  }
  Pop(2);
  Grow(3, "b");
  const auto read = [&](const std::string& at) {
    return timeline_->Read(at, [](Transaction&, const EpochState&) { return Status(); });
  };
  for (const TestEpoch& epoch : old) {
    EXPECT_EQ(read(epoch.hash).code(), epoch.number < 4 ? Code::kOk : Code::kTimelineReorganised) << epoch.hash;
  }
  EXPECT_EQ(read("").code(), Code::kOk);
}

TEST_P(TimelineTest, OlderEpochsAreFinal) {
  TimelineOptions options = Options();
  options.history_epochs = 3;
  timeline_ = Open(options);
  Grow(10, "a");
  EXPECT_EQ(timeline_->PopTo(5).status().code(), Code::kTimelineFinal);
  EXPECT_EQ(timeline_->Tip()->number, 9);
  Pop(3);
  EXPECT_EQ(timeline_->PopTo(5).status().code(), Code::kTimelineFinal);
  Grow(2, "b");  // less high than before: what was final stays so
  EXPECT_EQ(timeline_->PopTo(5).status().code(), Code::kTimelineFinal);
  Pop(2);
  ExpectOnly(*timeline_, chain_);
}

TEST_P(TimelineTest, ReorganisationsAreRecorded) {
  Grow(6, "a");
  EXPECT_TRUE(timeline_->Reorganisations(10)->empty());
  Pop(3);
  EXPECT_TRUE(timeline_->Reorganisations(10)->empty());
  Grow(1, "b");
  const int64_t first_time = clock_.NowMillis();
  Pop(1);
  Grow(1, "b");  // the same again is none
  Pop(1);
  Grow(2, "c");  // in the same millisecond
  clock_.Advance(std::chrono::milliseconds(500));
  Pop(5);
  Grow(1, "d");
  const auto all = timeline_->Reorganisations(10);
  ASSERT_OK(all);
  ASSERT_EQ(all->size(), 3u);
  const Reorganisation& oldest = (*all)[2];
  EXPECT_EQ(oldest.time_ms, first_time);
  EXPECT_EQ(oldest.depth, 3);
  EXPECT_EQ(oldest.fork, 2);
  EXPECT_EQ(oldest.old_number, 5);
  EXPECT_EQ(oldest.old_hash, "a-5");
  EXPECT_EQ(oldest.new_number, 3);
  EXPECT_EQ(oldest.new_hash, "b-3");
  EXPECT_EQ((*all)[1].depth, 1);
  EXPECT_GT((*all)[1].time_ms, first_time);
  EXPECT_EQ((*all)[0].depth, 5);
  EXPECT_EQ((*all)[0].fork, -1);
  EXPECT_EQ((*all)[0].new_hash, "d-0");
  const auto newest = timeline_->Reorganisations(1);
  ASSERT_OK(newest);
  ASSERT_EQ(newest->size(), 1u);
  const auto older = timeline_->Reorganisations(10, (*newest)[0].time_ms);
  ASSERT_OK(older);
  EXPECT_EQ(older->size(), 2u);
  ExpectOnly(*timeline_, chain_);  // they are no part of the state
}

TEST_P(TimelineTest, AStopEndsEverything) {
  std::atomic<bool> stop = false;
  TimelineOptions options = Options();
  options.stop = &stop;
  timeline_ = Open(options);
  Grow(3, "a");
  stop = true;
  EXPECT_EQ(Grow([](Growth&) { return Status(); }), Code::kInterrupted);
  EXPECT_EQ(timeline_->PopTo(0).status().code(), Code::kInterrupted);
  stop = false;
  ExpectOnly(*timeline_, chain_);
}

TEST(TimelineOptionsTest, EachFieldHasItsRange) {
  TimelineOptions good;
  good.database = "d";
  good.collections = {"a", "b"};
  EXPECT_OK(good.Validate());
  const auto broken = [&](const std::function<void(TimelineOptions&)>& change) {
    TimelineOptions options = good;
    change(options);
    return options.Validate().code() == Code::kBadValue;
  };
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.database = ""; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.name = ""; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.name = "a.b"; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.collections = {}; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.collections = {"a", "a"}; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.collections = {"timeline_head"}; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.collections = {"a.b"}; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.history_epochs = 0; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.transaction_documents_max = 0; }));
  EXPECT_TRUE(broken([](TimelineOptions& options) { options.transaction_bytes_max = 1000; }));
}

}  // namespace
}  // namespace braid::timeline
