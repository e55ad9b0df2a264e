#include "base/work.h"

#include <vector>

#include "base/testing/testing.h"

namespace braid {
namespace {

/// Is to end after so many questions.
class ShortWork final : public Work {
 public:
  explicit ShortWork(int questions, int64_t bytes_max = 1000, MemoryBudget* budget = nullptr)
      : Work(budget, bytes_max), questions_(questions) {}

 private:
  Status Interrupted() override {
    return questions_-- > 0 ? Status() : Status(Code::kInterrupted, "operation was interrupted");
  }
  int questions_;
};

TEST(WorkTest, LoopsHearThatTheyAreToEnd) {
  ShortWork work(3);
  int steps = 0;
  Status status;
  while ((status = work.Tick()).ok()) ++steps;
  EXPECT_EQ(status.code(), Code::kInterrupted);
  EXPECT_EQ(steps, 4 * 1024 - 1);
  EXPECT_EQ(work.Tick(1 << 20).code(), Code::kInterrupted) << "a long step is asked about at once";
}

TEST(WorkTest, WhatCannotReturnAnErrorLeavesItToTheNextStep) {
  ShortWork work(0);
  while (work.GoesOn()) {
  }
  EXPECT_FALSE(work.GoesOn());
  EXPECT_EQ(work.Tick().code(), Code::kInterrupted);
}

TEST(WorkTest, MemoryIsAskedForBeforeItIsTaken) {
  ShortWork work(1 << 20);
  const WorkEntered entered(work);
  {
    HeldMemory held;
    EXPECT_TRUE(held.Fits(900));
    EXPECT_FALSE(held.Fits(1001));
    EXPECT_EQ(held.bytes(), 900u);
    EXPECT_EQ(work.Tick().code(), Code::kExceededMemoryLimit);
    EXPECT_OK(work.Tick());
    HeldMemory other;
    EXPECT_EQ(other.Set(200).code(), Code::kExceededMemoryLimit);
    EXPECT_OK(held.Set(500));
    EXPECT_OK(other.Set(200));
    EXPECT_EQ(work.held(), 700);
    other.Take(2000);  // cannot fail, and is noticed
    EXPECT_EQ(work.Tick().code(), Code::kExceededMemoryLimit);
  }
  EXPECT_EQ(work.held(), 0);
  std::vector<int, HeldAllocator<int>> numbers;
  numbers.resize(400);
  EXPECT_EQ(work.held(), 1600);
  EXPECT_EQ(work.Tick().code(), Code::kExceededMemoryLimit);
}

TEST(WorkTest, LargeValuesAreChargedToTheServer) {
  MemoryBudget budget(1 << 20);
  ShortWork work(1 << 20, 10 << 20, &budget);
  const WorkEntered entered(work);
  HeldMemory held;
  EXPECT_TRUE(held.Fits(512 << 10));
  EXPECT_EQ(budget.used_by(MemoryHolder::kExpressions), 512u << 10);
  EXPECT_FALSE(held.Fits(2 << 20));
  EXPECT_EQ(work.Tick().code(), Code::kExceededMemoryLimit);
  held.Shrink(1000);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(WorkTest, IsThatOfTheInnermostScope) {
  Work& nobody = Work::Current();
  ShortWork outer(1);
  const WorkEntered entered(outer);
  {
    ShortWork inner(1);
    const WorkEntered inside(inner);
    EXPECT_EQ(&Work::Current(), &inner);
  }
  EXPECT_EQ(&Work::Current(), &outer);
  EXPECT_NE(&nobody, &outer);
}

}  // namespace
}  // namespace braid
