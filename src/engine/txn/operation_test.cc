// Operations: the list, kills and deadlines.
#include "engine/txn/operation.h"

#include "base/testing/testing.h"

namespace braid::txn {
namespace {

TEST(OperationsTest, KillAndDeadline) {
  ManualClock clock;
  Operations operations(clock);
  Operations::Handle one = operations.Start();
  {
    Operations::Handle two = operations.Start();
    two->lsid = "s";
    EXPECT_EQ(operations.size(), 2u);
    operations.KillSession("s", Code::kInterrupted);
    EXPECT_EQ(two->Check().code(), Code::kInterrupted);
    EXPECT_OK(one->Check());
  }
  EXPECT_EQ(operations.size(), 1u);
  EXPECT_FALSE(operations.Kill(999, Code::kInterrupted));
  one->deadline = clock.Now() + std::chrono::milliseconds(5);
  EXPECT_OK(one->Check());
  clock.Advance(std::chrono::milliseconds(5));
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = one->Check();
  EXPECT_EQ(status.code(), Code::kMaxTimeMSExpired);
  EXPECT_EQ(one->Check().code(), Code::kMaxTimeMSExpired);
  operations.KillAll(Code::kInterruptedAtShutdown);
  EXPECT_EQ(one->Check().code(), Code::kInterruptedAtShutdown);
}

}  // namespace
}  // namespace braid::txn
