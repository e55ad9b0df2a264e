// The first to come has the first turn, and a waiter that is abandoned or shut out has none.
#include "engine/wire/turns.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/testing/testing.h"

namespace braid::wire {
namespace {

void AwaitWaiting(const Turns& turns, size_t count) {
  while (turns.figures().waiting != count) std::this_thread::yield();
}

TEST(TurnsTest, OneAfterAnotherInTheirOrder) {
  Turns turns(1);
  Turns::Place first;
  ASSERT_OK(turns.Take(first));
  std::vector<std::thread> threads;
  std::vector<Turns::Place> places(4);
  std::vector<size_t> order;  // written by the holder of the turn
  for (size_t i = 0; i < places.size(); ++i) {
    threads.emplace_back([&, i] {
      const Turns::Turn turn(turns, places[i]);
      EXPECT_OK(turn.status());
      EXPECT_EQ(turns.figures().running, 1u);
      order.push_back(i);
    });
    AwaitWaiting(turns, i + 1);
  }
  turns.Done(first);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(turns.figures().begun, 5u);
  EXPECT_EQ(turns.figures().running, 0u);
}

TEST(TurnsTest, SeveralAtOnce) {
  Turns turns(2);
  Turns::Place first, second;
  EXPECT_OK(turns.Take(first));
  EXPECT_OK(turns.Take(second));
  EXPECT_EQ(turns.figures().running, 2u);
  turns.Done(first);
  turns.Done(second);
}

TEST(TurnsTest, AnAbandonedPlaceGetsNoTurn) {
  Turns turns(1);
  Turns::Place first, gone, last;
  ASSERT_OK(turns.Take(first));
  turns.Abandon(first);  // it has its turn already
  std::thread leaves([&] { EXPECT_EQ(turns.Take(gone).code(), Code::kClientDisconnect); });
  AwaitWaiting(turns, 1);
  std::thread stays([&] {
    EXPECT_OK(turns.Take(last));
    turns.Done(last);
  });
  AwaitWaiting(turns, 2);
  turns.Abandon(gone);
  leaves.join();
  EXPECT_EQ(turns.figures().abandoned, 1u);
  turns.Done(first);
  stays.join();
  EXPECT_OK(turns.Take(gone));  // the place can be used again
  turns.Done(gone);
}

TEST(TurnsTest, CloseSendsEverybodyAway) {
  Turns turns(1);
  Turns::Place first, second;
  ASSERT_OK(turns.Take(first));
  std::thread waits([&] { EXPECT_EQ(turns.Take(second).code(), Code::kInterruptedAtShutdown); });
  AwaitWaiting(turns, 1);
  turns.Close();
  waits.join();
  turns.Done(first);
  EXPECT_EQ(turns.Take(first).code(), Code::kInterruptedAtShutdown);
}

}  // namespace
}  // namespace braid::wire
