#include "base/fiber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <fstream>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/sanitized.h"

namespace braid {
namespace {

constexpr Fiber::Turn kTurn{.at_most = std::chrono::microseconds(2000)};

// Threads that run what is ready, as the server's loops do.
class ReadyQueue {
 public:
  explicit ReadyQueue(size_t threads) {
    for (size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (const auto next = Take()) next();
      });
    }
  }
  ~ReadyQueue() {
    {
      const MutexLock lock(mu_);
      ended_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }
  void Post(std::function<void()> work) {
    {
      const MutexLock lock(mu_);
      queue_.push_back(std::move(work));
    }
    changed_.NotifyOne();
  }

 private:
  std::function<void()> Take() {
    MutexLock lock(mu_);
    changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return ended_ || !queue_.empty(); });
    if (queue_.empty()) return nullptr;
    auto next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ BRAID_GUARDED_BY(mu_);
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

TEST(FiberTest, RunsToItsEndWithoutParking) {
  Fiber fiber([] { FAIL() << "nothing has parked"; });
  int runs = 0;
  EXPECT_TRUE(fiber.Run([&] { ++runs; }, kTurn));
  EXPECT_TRUE(fiber.Run([&] { ++runs; }, kTurn));
  EXPECT_EQ(runs, 2);
}

TEST(FiberTest, ParksAndGoesOn) {
  int ready = 0;
  Fiber fiber([&] { ++ready; });
  Parking parking;
  std::vector<int> steps;
  const std::function<void()> body = [&] {
    steps.push_back(1);
    parking.Park();
    steps.push_back(2);
  };
  EXPECT_FALSE(fiber.Run(body, kTurn));
  EXPECT_EQ(ready, 0);
  parking.Unpark();
  parking.Unpark();  // a second time is no second wait
  EXPECT_EQ(ready, 1);
  EXPECT_EQ(steps, std::vector{1});
  EXPECT_TRUE(fiber.Resume(kTurn));
  EXPECT_EQ(steps, (std::vector{1, 2}));
}

TEST(FiberTest, UnparkBeforeParkIsNotLost) {
  Fiber fiber([] { FAIL() << "it never gave its thread back"; });
  Parking parking;
  EXPECT_TRUE(fiber.Run(
      [&] {
        parking.Unpark();
        parking.Park();
      },
      kTurn));
}

TEST(FiberTest, GivesWayWhenItsTurnIsOver) {
  int later = 0;
  Fiber fiber([] { FAIL() << "it has not waited"; }, [&] { ++later; });
  bool others_had_their_turn = false;
  const std::function<void()> body = [&] {
    Fiber::GiveWay();  // it has only begun
    EXPECT_EQ(later, 0);
    while (!others_had_their_turn) Fiber::GiveWay();
  };
  EXPECT_FALSE(fiber.Run(body, kTurn));
  EXPECT_EQ(later, 1);
  EXPECT_FALSE(fiber.Resume(kTurn));
  EXPECT_EQ(later, 2);
  others_had_their_turn = true;
  EXPECT_TRUE(fiber.Resume(kTurn));
}

TEST(FiberTest, ATurnEndsEarlyWhenOthersWantIt) {
  int later = 0;
  std::atomic<bool> is_wanted{false};
  Fiber fiber([] { FAIL() << "it has not waited"; }, [&] { ++later; });
  const Fiber::Turn hour{.at_most = std::chrono::hours(1), .is_wanted = &is_wanted};
  const std::function<void()> body = [&] {
    for (int i = 0; i < 1000; ++i) Fiber::GiveWay();
    EXPECT_EQ(later, 0);
    is_wanted = true;
    Fiber::GiveWay();
    is_wanted = false;
    for (int i = 0; i < 1000; ++i) Fiber::GiveWay();
    EXPECT_EQ(later, 1);
  };
  EXPECT_FALSE(fiber.Run(body, hour));
  EXPECT_TRUE(fiber.Resume(hour));
}

TEST(FiberTest, NobodyGivesWayWithoutAFiberOrAPlaceToGoOn) {
  EXPECT_FALSE(Fiber::IsTurnOver());
  Fiber::GiveWay();
  Fiber fiber([] { FAIL() << "it has not waited"; });
  EXPECT_TRUE(fiber.Run([] { Fiber::GiveWay(); }, kTurn));
}

TEST(FiberTest, AThreadBlocksWhereAFiberParks) {
  Parking parking;
  bool woken = false;
  std::thread thread([&] {
    parking.Park();
    woken = true;
  });
  parking.Unpark();
  thread.join();
  EXPECT_TRUE(woken);
}

// Many more fibers than threads wait for each other in a ring: each hands a token on to the next, all of them many
// times.
TEST(FiberTest, ManyFibersWaitOnFewThreads) {
  constexpr size_t kFibers = 300;
  constexpr int kRounds = 50;
  struct Member {
    Mutex mu;
    bool token BRAID_GUARDED_BY(mu) = false;
    Parking parking;
    std::unique_ptr<Fiber> fiber;
    std::function<void()> body;
  };
  std::vector<Member> members(kFibers);
  std::atomic<size_t> ended{0};
  std::atomic<int> passed{0};
  {
    ReadyQueue queue(2);
    const auto give = [](Member& member) {
      const MutexLock lock(member.mu);
      member.token = true;
      member.parking.Unpark();
    };
    for (size_t i = 0; i < kFibers; ++i) {
      Member& member = members[i];
      member.body = [&, i] {
        for (int round = 0; round < kRounds; ++round) {
          while (true) {
            {
              const MutexLock lock(members[i].mu);
              if (std::exchange(members[i].token, false)) break;
            }
            members[i].parking.Park();
          }
          ++passed;
          give(members[(i + 1) % kFibers]);
        }
      };
      member.fiber = std::make_unique<Fiber>([&, i] {
        queue.Post([&, i] {
          if (members[i].fiber->Resume(kTurn)) ++ended;
        });
      });
    }
    for (Member& member : members) {
      queue.Post([&] {
        if (member.fiber->Run(member.body, kTurn)) ++ended;
      });
    }
    give(members[0]);
    while (ended < kFibers) std::this_thread::yield();
  }
  EXPECT_EQ(passed, static_cast<int>(kFibers) * kRounds);
}

// A load of many fibers keeps their stacks, and what follows does without most of them.
TEST(FiberTest, StacksStayAsLongAsTheyAreNeeded) {
  constexpr size_t kFibers = 400;  // more than any other test
  const auto run_all = [] {
    std::vector<Parking> parkings(kFibers);
    std::vector<std::function<void()>> bodies(kFibers);
    std::vector<std::unique_ptr<Fiber>> fibers;
    for (size_t i = 0; i < kFibers; ++i) {
      bodies[i] = [&, i] { parkings[i].Park(); };
      fibers.push_back(std::make_unique<Fiber>([] {}));
      EXPECT_FALSE(fibers[i]->Run(bodies[i], kTurn));
    }
    for (size_t i = 0; i < kFibers; ++i) {
      parkings[i].Unpark();
      EXPECT_TRUE(fibers[i]->Resume(kTurn));
    }
  };
  run_all();
  Fiber::FreeUnusedStacks();
  run_all();
  const size_t idle = Fiber::idle_stacks();
  EXPECT_GE(idle, kFibers);
  Fiber::FreeUnusedStacks();
  EXPECT_EQ(Fiber::idle_stacks(), idle);  // all were needed since the last time
  Fiber::FreeUnusedStacks();
  if (kSanitized) {
    EXPECT_EQ(Fiber::idle_stacks(), idle);  // a sanitizer does not forget a stack
  } else {
    EXPECT_LE(Fiber::idle_stacks(), kFibers / 2);
  }
}

size_t ResidentPages() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident;
}

// What deep recursion has used is given back also of stacks that are needed all the time.
TEST(FiberTest, DepthsOfIdleStacksAreForgotten) {
  if (kSanitized) GTEST_SKIP() << "under a sanitizer they are kept, as the stacks are";
  constexpr size_t kDepthPages = 128;
  const size_t count = std::max<size_t>(200, Fiber::idle_stacks() + 1);  // none is left over, so none is freed
  std::vector<Parking> parkings(count);
  std::vector<std::function<void()>> bodies(count);
  std::vector<std::unique_ptr<Fiber>> fibers;
  for (size_t i = 0; i < count; ++i) {
    bodies[i] = [&, i] {
      volatile uint8_t depth[kDepthPages * 4096];
      for (size_t page = 0; page < kDepthPages; ++page) depth[page * 4096] = 1;
      parkings[i].Park();
      EXPECT_EQ(depth[0], 1);
    };
    fibers.push_back(std::make_unique<Fiber>([] {}));
    EXPECT_FALSE(fibers[i]->Run(bodies[i], kTurn));
  }
  for (size_t i = 0; i < count; ++i) {
    parkings[i].Unpark();
    EXPECT_TRUE(fibers[i]->Resume(kTurn));
  }
  const size_t stacks = Fiber::idle_stacks();
  const size_t before = ResidentPages();
  Fiber::FreeUnusedStacks();
  EXPECT_EQ(Fiber::idle_stacks(), stacks);
  EXPECT_LT(ResidentPages() + 100 * (kDepthPages / 2), before);
}

}  // namespace
}  // namespace braid
