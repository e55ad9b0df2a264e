// The gate: which requests are inside together, the order of those that wait, and giving up.
#include "base/gate.h"

#include <chrono>
#include <thread>
#include <vector>

#include "base/testing/testing.h"

namespace braid {
namespace {

constexpr Fiber::Turn kGateTurn{.at_most = std::chrono::milliseconds(2)};

// Gives up when it is told to.
class ImpatientWaiter final : public Waiter {
 public:
  Status Wait() override {
    parking_.Park();
    return given_up_ ? Status(Code::kInterrupted, "given up") : Status();
  }
  // The test is over before the waiter goes away.
  void GiveUp() {
    given_up_ = true;
    Wake();
  }

 private:
  std::atomic<bool> given_up_{false};
};

class GateTest : public ::testing::Test {
 protected:
  Gate::Pass Share() { return *gate_.Share(waiter_); }
  Gate::Pass Close() { return *gate_.Close(waiter_); }

  // In a fiber each, so that one thread sees all of it: what has parked is resumed by RunReady().
  struct Request {
    explicit Request(GateTest& test, std::string name, bool alone)
        : fiber([this, &test] { test.ready_.push_back(this); }), name(std::move(name)), body([this, &test, alone] {
            Result<Gate::Pass> entered = alone ? test.gate_.Close(waiter) : test.gate_.Share(waiter);
            test.log_.push_back(this->name + (entered.ok() ? "" : " gave up"));
            if (entered.ok()) pass = *std::move(entered);
          }) {}
    Fiber fiber;
    std::string name;
    ImpatientWaiter waiter;
    Gate::Pass pass;
    std::function<void()> body;
  };
  Request& Enter(std::string name, bool alone) {
    requests_.push_back(std::make_unique<Request>(*this, std::move(name), alone));
    requests_.back()->fiber.Run(requests_.back()->body, kGateTurn);
    return *requests_.back();
  }
  void RunReady() {
    while (!ready_.empty()) {
      Request* const next = ready_.front();
      ready_.erase(ready_.begin());
      next->fiber.Resume(kGateTurn);
    }
  }
  std::vector<std::string> TakeLog() { return std::exchange(log_, {}); }

  using Names = std::vector<std::string>;
  Gate gate_;
  PatientWaiter waiter_;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> ready_;
  Names log_;
};

TEST_F(GateTest, ManyAreInsideTogetherOrOneAlone) {
  Gate::Pass first = Share();
  Gate::Pass second = Share();
  EXPECT_FALSE(gate_.TryClose());
  first.Release();
  EXPECT_FALSE(gate_.TryClose());
  second = {};
  std::optional<Gate::Pass> alone = gate_.TryClose();
  ASSERT_TRUE(alone);
  EXPECT_FALSE(gate_.TryClose());
  alone.reset();
  EXPECT_FALSE(Close().empty());
  EXPECT_FALSE(Share().empty());
}

TEST_F(GateTest, APassThatIsMovedIsReleasedOnce) {
  Gate::Pass first = Share();
  Gate::Pass second = std::move(first);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): that is the promise
  first = std::move(second);
  EXPECT_TRUE(second.empty());  // NOLINT(bugprone-use-after-move)
  first.Release();
  first.Release();
  EXPECT_TRUE(gate_.TryClose());
}

TEST_F(GateTest, ThoseThatWaitEnterInTheirOrder) {
  Gate::Pass inside = Share();
  Enter("alone", true);
  Enter("b", false);  // there is room, but the one that wants to be alone was first
  Enter("c", false);
  Enter("last", true);
  EXPECT_EQ(TakeLog(), Names());
  EXPECT_TRUE(gate_.IsWanted());
  EXPECT_FALSE(gate_.TryClose());

  inside.Release();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"alone"}));
  requests_[0]->pass.Release();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"b", "c"}));
  requests_[1]->pass.Release();
  RunReady();
  EXPECT_EQ(TakeLog(), Names());
  requests_[2]->pass.Release();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"last"}));
  EXPECT_FALSE(gate_.IsWanted());
}

TEST_F(GateTest, OneThatGivesUpLetsThoseBehindItIn) {
  Gate::Pass inside = Share();
  Request& alone = Enter("alone", true);
  Enter("b", false);
  alone.waiter.GiveUp();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"alone gave up", "b"}));
  EXPECT_FALSE(gate_.IsWanted());
}

TEST_F(GateTest, OneThatGivesUpInTheMiddleLeavesTheOrder) {
  Gate::Pass inside = Close();
  Enter("a", false);
  Request& gone = Enter("gone", false);
  Enter("b", true);
  gone.waiter.GiveUp();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"gone gave up"}));
  inside.Release();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"a"}));
  requests_[0]->pass.Release();
  RunReady();
  EXPECT_EQ(TakeLog(), Names({"b"}));
}

// Threads without fibers, as an embedded caller's: each blocks its own. Nobody is inside beside one that is alone.
TEST_F(GateTest, ThreadsMeetNobodyWhileAlone) {
  std::atomic<int> sharing{0};
  std::atomic<int> alone{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      PatientWaiter waiter;
      for (int round = 0; round < 2000; ++round) {
        if ((round + t) % 4 == 0) {
          const auto pass = gate_.Close(waiter);
          if (++alone != 1 || sharing != 0) ++wrong;
          --alone;
        } else {
          const auto pass = gate_.Share(waiter);
          ++sharing;
          if (alone != 0) ++wrong;
          --sharing;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(gate_.TryClose());
}

}  // namespace
}  // namespace braid
