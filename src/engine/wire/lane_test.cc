#include "engine/wire/lane.h"

#include <algorithm>
#include <string>

#include "base/testing/testing.h"

namespace braid::wire {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kNone{0};
constexpr milliseconds kMuch{100'000};

/// The turns are taken one after another, once the gate is open; each is one letter.
class LaneTest : public testing::Test {
 protected:
  void Start(const LaneOptions& options) {
    lane_ = std::make_unique<Lane>(options);
    for (size_t i = 0; i < options.at_once; ++i) Hold();
    WaitUntil([&] { return held_ == options.at_once; });
  }
  /// A turn that lasts until the gate opens.
  void Hold() {
    lane_->Push(kNone, [this](const Fiber::Turn&) {
      MutexLock lock(mu_);
      ++held_;
      changed_.NotifyAll();
      changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return open_; });
    });
  }
  /// `had` is the time that it has had before.
  void Push(milliseconds had, char name) {
    lane_->Push(had, [this, name](const Fiber::Turn&) {
      const MutexLock lock(mu_);
      ran_ += name;
      changed_.NotifyAll();
    });
  }
  template <typename Condition>
  void WaitUntil(const Condition& condition) {
    MutexLock lock(mu_);
    changed_.Wait(lock, condition);
  }
  /// What ran, in order, once so many have run.
  std::string Ran(size_t count) {
    WaitUntil([&] { return ran_.size() == count; });
    const MutexLock lock(mu_);
    return std::exchange(ran_, "");
  }
  /// How many of so many requests ran at the same time.
  int MostAtOnce(size_t count) {
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    for (size_t i = 0; i < count; ++i) {
      lane_->Push(kNone, [&](const Fiber::Turn&) {
        most = std::max(most.load(), ++running);
        std::this_thread::yield();
        --running;
        const MutexLock lock(mu_);
        ran_ += '.';
        changed_.NotifyAll();
      });
    }
    Ran(count);
    return most;
  }
  void Open() {
    const MutexLock lock(mu_);
    open_ = true;
    changed_.NotifyAll();
  }

  Mutex mu_;
  CondVar changed_;
  size_t held_ = 0;
  bool open_ = false;
  std::string ran_;
  std::unique_ptr<Lane> lane_;  // ends first
};

constexpr LaneOptions kOne{.at_once = 1, .threads_max = 4, .patience = hours(1)};

TEST_F(LaneTest, OfOneAgeTheFirstToComeGoesFirst) {
  Start(kOne);
  for (const char name : {'a', 'b', 'c'}) Push(kNone, name);
  for (const char name : {'x', 'y', 'z'}) Push(kMuch, name);
  Open();
  EXPECT_EQ(Ran(6), "abcxyz");
}

TEST_F(LaneTest, TheOneThatHasHadLessTimeGoesFirst) {
  Start(kOne);
  Push(milliseconds(50'000), 'f');
  Push(milliseconds(2000), 'g');  // the last level
  Push(milliseconds(300), 'e');
  Push(milliseconds(50), 'd');
  Push(milliseconds(10), 'c');
  Push(milliseconds(1), 'b');
  Push(kNone, 'a');
  Open();
  EXPECT_EQ(Ran(7), "abcdefg");
}

TEST_F(LaneTest, TheOneThatHasWaitedLongestGetsItsShareWhateverComes) {
  Start(kOne);
  for (const char name : {'x', 'y'}) Push(kMuch, name);
  Push(milliseconds(1), 'm');
  for (int i = 0; i < 65; ++i) Push(kNone, '.');
  Open();
  const std::string dots(30, '.');  // 15 ms
  EXPECT_EQ(Ran(68), dots + "x" + dots + "y.....m");
}

TEST_F(LaneTest, TurnsGrow) {
  for (int had = 0; had < 10; ++had) {
    EXPECT_LE(Lane::TurnAfter(milliseconds(had)), Lane::TurnAfter(milliseconds(had + 1)));
  }
  EXPECT_LT(Lane::TurnAfter(kNone), Lane::TurnAfter(kMuch));
  EXPECT_GT(Lane::TurnAfter(kNone), microseconds(0));
}

TEST_F(LaneTest, ATurnIsWantedWhileARequestThatHasHadLessTimeWaits) {
  Start(kOne);
  lane_->Push(milliseconds(5), [this](const Fiber::Turn& turn) {
    EXPECT_EQ(turn.at_most, Lane::TurnAfter(milliseconds(5)));
    ASSERT_NE(turn.is_wanted, nullptr);
    EXPECT_LE(turn.at_least, turn.at_most);
    EXPECT_FALSE(turn.is_wanted->load());
    Push(milliseconds(10), 'c');
    Push(milliseconds(5), 'b');
    EXPECT_FALSE(turn.is_wanted->load());
    Push(milliseconds(2), 'a');
    EXPECT_TRUE(turn.is_wanted->load());
  });
  Open();
  EXPECT_EQ(Ran(3), "abc");
}

TEST_F(LaneTest, AShareOfTheTimeIsNotCutShort) {
  Start(kOne);
  bool was_cut_short = true;
  lane_->Push(kMuch, [&](const Fiber::Turn& turn) {
    was_cut_short = turn.is_wanted != nullptr;
    const MutexLock lock(mu_);
    ran_ += 'x';
  });
  for (int i = 0; i < 40; ++i) Push(kNone, '.');
  Open();
  EXPECT_EQ(Ran(41), std::string(30, '.') + "x" + std::string(10, '.'));
  EXPECT_FALSE(was_cut_short);
}

TEST_F(LaneTest, AStretchMayPushTheNext) {
  Start(kOne);
  lane_->Push(kNone, [this](const Fiber::Turn&) { Push(milliseconds(1), 'b'); });
  Open();
  EXPECT_EQ(Ran(1), "b");
  EXPECT_EQ(lane_->figures().waiting.load(), 0);
  EXPECT_EQ(lane_->figures().waits.load(), 3u);
}

TEST_F(LaneTest, OneMoreRunsForEachThatIsStuckAndNoMoreAfterwards) {
  constexpr LaneOptions kTwo{.at_once = 2, .threads_max = 4, .patience = milliseconds(1)};
  Start(kTwo);
  Hold();
  Hold();
  Push(kNone, 'a');
  for (size_t held = 0; held < 4;) {
    EXPECT_TRUE(lane_->Relieve());
    const MutexLock lock(mu_);
    held = held_;
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(lane_->Relieve());  // there are no more threads
  {
    const MutexLock lock(mu_);
    EXPECT_EQ(held_, 4u);
    EXPECT_EQ(ran_, "");
  }
  Open();
  EXPECT_EQ(Ran(1), "a");
  // All four threads are there, and again two turns are taken at a time.
  EXPECT_LE(MostAtOnce(200), 2);
}

TEST_F(LaneTest, OneTurnFewerIsTakenWhileACoreIsLeftToOthers) {
  Start({.at_once = 2, .threads_max = 4, .patience = hours(1)});
  Open();
  WaitUntil([&]() BRAID_REQUIRES(mu_) { return held_ == 2; });
  lane_->LeaveCore(true);
  EXPECT_EQ(MostAtOnce(200), 1);
  {
    const MutexLock lock(mu_);
    open_ = false;
  }
  Hold();
  Hold();
  WaitUntil([&]() BRAID_REQUIRES(mu_) { return held_ == 3; });
  EXPECT_EQ(lane_->figures().waiting.load(), 1);
  lane_->LeaveCore(false);
  EXPECT_TRUE(lane_->Relieve());
  WaitUntil([&]() BRAID_REQUIRES(mu_) { return held_ == 4; });
  Open();
}

TEST_F(LaneTest, TheOnlyTurnIsNeverGivenUp) {
  Start(kOne);
  lane_->LeaveCore(true);
  Push(kNone, 'a');
  Open();
  EXPECT_EQ(Ran(1), "a");
}

TEST_F(LaneTest, WhatWaitsAtTheEndIsDropped) {
  Start(kOne);
  Push(kNone, 'a');
  std::thread stopping([this] { lane_->Stop(); });
  while (lane_->Relieve()) std::this_thread::yield();  // until it stops
  Open();
  stopping.join();
  EXPECT_EQ(ran_, "");
}

}  // namespace
}  // namespace braid::wire
