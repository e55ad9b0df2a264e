// Leases: two processes cannot extend one chain, whatever their clocks do (C10).
#include <atomic>
#include <thread>

#include "braid/clock.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

using std::chrono::milliseconds;

class ChainLeaseTest : public ChainsStoreTest {
 protected:
  std::unique_ptr<Chains> OpenAs(const std::string& owner, const Clock& clock) {
    ChainsOptions options = Options(owner);
    options.clock = &clock;
    return Open(options);
  }
  ManualClock clock_;
};
INSTANTIATE_ON_STORES(ChainLeaseTest);

TEST_P(ChainLeaseTest, OneOwnerAtATime) {
  const auto a = OpenAs("a", clock_);
  const auto b = OpenAs("b", clock_);
  EXPECT_EQ(AppendOne(*a, RecordOf(1, 1)).code(), Code::kLeaseLost);  // not held yet
  ASSERT_OK(a->AcquireLease(1));
  ASSERT_OK(AppendOne(*a, RecordOf(1, 1)));
  EXPECT_EQ(b->AcquireLease(1).status().code(), Code::kConflictingOperationInProgress);
  EXPECT_EQ(AppendOne(*b, RecordOf(1, 2)).code(), Code::kLeaseLost);
  ASSERT_OK(b->AcquireLease(2));
  ASSERT_OK(a->ReleaseLease(1));
  const auto epoch = b->AcquireLease(1);
  ASSERT_OK(epoch);
  EXPECT_EQ(*epoch, 2);
  ASSERT_OK(AppendOne(*b, RecordOf(1, 2)));
  EXPECT_EQ(AppendOne(*a, RecordOf(1, 3)).code(), Code::kLeaseLost);
  const auto leases = a->Leases();
  ASSERT_OK(leases);
  ASSERT_EQ(leases->size(), 2u);
  EXPECT_EQ((*leases)[0].owner, "b");
  EXPECT_EQ((*leases)[0].expires_at_ms, clock_.NowMillis() + 10'000);
  EXPECT_EQ(Open()->AcquireLease(1).status().code(), Code::kIllegalOperation);
}

// The stalled process's clock stands still, so it believes in its lease; the store does not.
TEST_P(ChainLeaseTest, AStalledOwnerThatWakesUpCannotAppend) {
  const ManualClock stalled(clock_.NowMillis());
  const auto a = OpenAs("a", stalled);
  const auto b = OpenAs("b", clock_);
  ASSERT_OK(a->AcquireLease(1));
  ASSERT_OK(AppendOne(*a, RecordOf(1, 1)));
  clock_.Advance(milliseconds(10'001));
  ASSERT_OK(b->AcquireLease(1));
  const Status before_b = AppendOne(*a, RecordOf(1, 2));  // although b has not written anything yet
  EXPECT_EQ(before_b.code(), Code::kLeaseLost);
  EXPECT_EQ(before_b.message(), "chain 1: the lease with epoch 1 was taken by another, whose epoch is 2");
  ASSERT_OK(AppendOne(*b, RecordOf(1, 3)));
  EXPECT_EQ(AppendOne(*a, RecordOf(1, 4)).code(), Code::kLeaseLost);
  EXPECT_OK(AppendOne(*a, RecordOf(1, 1)));  // stored already: to say so needs no lease
  EXPECT_EQ(AppendOne(*a, RecordOf(1, 1, "fork")).code(), Code::kLeaseLost);
  EXPECT_TRUE(b->Heads()->front().halted.empty());
  EXPECT_EQ(Merged(*b), (std::vector<std::string>{"1@1 payload", "3@1 payload"}));
  ExpectSound(*b);
}

TEST_P(ChainLeaseTest, ARenewalBesideItDoesNotUndoARelease) {
  const auto a = OpenAs("a", clock_);
  const auto b = OpenAs("b", clock_);
  std::atomic<bool> done = false;
  std::thread renewals([&] {
    while (!done) EXPECT_OK(a->RenewLeases());
  });
  for (int i = 0; i < 25; ++i) {
    EXPECT_OK(a->AcquireLease(1));
    EXPECT_OK(a->ReleaseLease(1));
    EXPECT_OK(b->AcquireLease(1));
    EXPECT_OK(b->ReleaseLease(1));
  }
  done = true;
  renewals.join();
}

TEST_P(ChainLeaseTest, RenewalKeepsALeaseAndNamesALostOne) {
  const ManualClock stalled(clock_.NowMillis());
  const auto a = OpenAs("a", clock_);
  const auto b = OpenAs("b", stalled);
  ASSERT_OK(b->AcquireLease(2));
  ASSERT_OK(a->AcquireLease(1));
  clock_.Advance(milliseconds(9'000));
  EXPECT_TRUE(a->RenewLeases()->empty());
  clock_.Advance(milliseconds(9'000));
  ASSERT_OK(a->AcquireLease(2));  // b's has expired
  EXPECT_EQ(b->AcquireLease(1).status().code(), Code::kConflictingOperationInProgress);
  const auto lost = b->RenewLeases();
  ASSERT_OK(lost);
  EXPECT_EQ(*lost, std::vector<int64_t>{2});
  EXPECT_OK(b->ReleaseLease(2));  // not its own any more: nothing happens
  EXPECT_OK(AppendOne(*a, RecordOf(2, 1)));
}

TEST_P(ChainLeaseTest, ARestartedOwnerFencesItsFormerSelf) {
  const auto former = OpenAs("a", clock_);
  ASSERT_OK(former->AcquireLease(1));
  const auto restarted = OpenAs("a", clock_);
  ASSERT_OK(restarted->AcquireLease(1));
  EXPECT_EQ(AppendOne(*former, RecordOf(1, 1)).code(), Code::kLeaseLost);
  EXPECT_OK(AppendOne(*restarted, RecordOf(1, 1)));
}

TEST_P(ChainLeaseTest, ALeasedChainIsClosedToWritersWithoutAName) {
  const auto a = OpenAs("a", clock_);
  const auto nameless = Open();
  ASSERT_OK(AppendOne(*nameless, RecordOf(1, 1)));
  ASSERT_OK(a->AcquireLease(1));
  EXPECT_EQ(AppendOne(*nameless, RecordOf(1, 2)).code(), Code::kLeaseLost);
  EXPECT_OK(AppendOne(*nameless, RecordOf(2, 2)));
}

}  // namespace
}  // namespace braid::chains
