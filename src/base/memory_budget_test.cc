#include "base/memory_budget.h"

#include <memory>
#include <thread>
#include <vector>

#include "base/testing/testing.h"

namespace braid {
namespace {

constexpr uint64_t kStep = 64 * 1024;

TEST(MemoryBudgetTest, ChargesInStepsAndGivesBack) {
  MemoryBudget budget(10 * kStep);
  {
    MemoryCharge sort(MemoryHolder::kSorts);
    EXPECT_OK(sort.Set(&budget, 1));
    EXPECT_EQ(budget.used(), kStep);
    EXPECT_OK(sort.Set(&budget, kStep));
    EXPECT_EQ(budget.used(), kStep);
    EXPECT_OK(sort.Set(&budget, 4 * kStep));
    MemoryCharge group(MemoryHolder::kGroups);
    EXPECT_OK(group.Set(&budget, 2 * kStep));
    EXPECT_EQ(budget.used(), 6 * kStep);
    EXPECT_EQ(budget.used_by(MemoryHolder::kSorts), 4 * kStep);
    EXPECT_EQ(budget.used_by(MemoryHolder::kGroups), 2 * kStep);
    EXPECT_OK(sort.Set(&budget, kStep));
    EXPECT_EQ(budget.used(), 3 * kStep);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudgetTest, RefusesWhatWouldGoPastIt) {
  MemoryBudget budget(3 * kStep);
  MemoryCharge first(MemoryHolder::kTransactions);
  MemoryCharge second(MemoryHolder::kSorts);
  EXPECT_OK(first.Set(&budget, 2 * kStep));
  EXPECT_OK(second.Set(&budget, kStep));
  EXPECT_EQ(second.Set(&budget, kStep + 1).code(), Code::kExceededMemoryLimit);
  EXPECT_EQ(budget.used(), 3 * kStep);  // what it had stays
  EXPECT_EQ(budget.refused(), 1u);
  first.Release();
  EXPECT_OK(second.Set(&budget, 3 * kStep));
}

TEST(MemoryBudgetTest, SmallWorkGoesOnWhenLargeWorkHasTakenEverything) {
  MemoryBudget budget(64 * kStep);
  MemoryCharge large(MemoryHolder::kSorts);
  EXPECT_OK(large.Set(&budget, 64 * kStep));
  MemoryCharge small(MemoryHolder::kTransactions);
  EXPECT_OK(small.Set(&budget, kStep));
  EXPECT_EQ(small.Set(&budget, kStep + 1).code(), Code::kExceededMemoryLimit);
  std::vector<std::unique_ptr<MemoryCharge>> more;
  for (int i = 0; i < 3; ++i) {
    more.push_back(std::make_unique<MemoryCharge>(MemoryHolder::kTransactions));
    EXPECT_OK(more.back()->Set(&budget, 1));
  }
  MemoryCharge last(MemoryHolder::kTransactions);
  EXPECT_EQ(last.Set(&budget, 1).code(), Code::kExceededMemoryLimit);
}

TEST(MemoryBudgetTest, ClientsLeaveHalfToTheOthers) {
  MemoryBudget budget(256u << 20);
  EXPECT_EQ(budget.clients_limit(), 128u << 20);
  EXPECT_EQ(MemoryBudget(80u << 20).clients_limit(), 64u << 20);
  MemoryCharge message(MemoryHolder::kMessages);
  MemoryCharge reply(MemoryHolder::kReplies);
  EXPECT_OK(message.Set(&budget, 100u << 20));
  EXPECT_EQ(reply.Set(&budget, 30u << 20).code(), Code::kExceededMemoryLimit);
  EXPECT_OK(reply.Set(&budget, 28u << 20));
  MemoryCharge sort(MemoryHolder::kSorts);
  EXPECT_OK(sort.Set(&budget, 128u << 20));
  message.Release();
  EXPECT_OK(reply.Set(&budget, 120u << 20));
}

TEST(MemoryBudgetTest, WithoutABudgetThereIsNoLimit) {
  MemoryCharge charge(MemoryHolder::kScans);
  EXPECT_OK(charge.Set(nullptr, UINT64_MAX / 2));
}

TEST(MemoryBudgetTest, ManyThreadsNeverHoldMoreThanTheLimit) {
  MemoryBudget budget(8 * kStep);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&budget, i] {
      for (uint64_t round = 0; round < 2000; ++round) {
        MemoryCharge charge(MemoryHolder::kReplies);
        charge.Set(&budget, (round + static_cast<uint64_t>(i)) % 5 * kStep).Ignore("may be refused");
        EXPECT_LE(budget.used_by(MemoryHolder::kReplies), 8 * kStep);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_EQ(budget.used_by(MemoryHolder::kReplies), 0u);
}

}  // namespace
}  // namespace braid
