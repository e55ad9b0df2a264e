// When a session counts as abandoned, with a clock that the test moves.
#include "services/settlement/migration/session_guard.h"

#include <gmock/gmock.h>

#include "base/testing/testing.h"
#include "braid/clock.h"

namespace braid::settlement::migration {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SessionGuardTest, WhoIsNotRenewedIsAbandonedAfterThePatienceAndNotBefore) {
  ManualClock clock;
  SessionWatch watch;
  EXPECT_THAT(watch.Abandoned({{"a", 7}}, clock.Now()), IsEmpty());
  clock.Advance(SessionWatch::kPatience - milliseconds(1));
  EXPECT_THAT(watch.Abandoned({{"a", 7}}, clock.Now()), IsEmpty());
  clock.Advance(milliseconds(1));
  EXPECT_THAT(watch.Abandoned({{"a", 7}}, clock.Now()), ElementsAre("a"));
}

// Any course of renewals: a session is given exactly if its count has been the same for the patience.
TEST(SessionGuardTest, ARenewalStartsThePatienceAnew) {
  Random random(test::Seed());
  ManualClock clock;
  SessionWatch watch;
  std::map<std::string, int64_t> renewals = {{"a", 1}, {"b", 1}, {"c", 1}};
  std::map<std::string, int64_t> changed_at;
  for (const auto& [id, count] : renewals) changed_at[id] = clock.NowMillis();
  for (int step = 0; step < 1000; ++step) {
    for (auto& [id, count] : renewals) {
      if (!random.Chance(1, 5)) continue;
      ++count;
      changed_at[id] = clock.NowMillis();
    }
    std::vector<std::string> expected;
    for (const auto& [id, at] : changed_at) {
      if (clock.NowMillis() - at >= SessionWatch::kPatience.count()) expected.push_back(id);
    }
    ASSERT_EQ(watch.Abandoned(renewals, clock.Now()), expected);
    clock.Advance(milliseconds(random.Below(600)));
  }
}

TEST(SessionGuardTest, OneThatWasTakenOffTheListBeginsAnew) {
  ManualClock clock;
  SessionWatch watch;
  watch.Abandoned({{"a", 7}}, clock.Now());
  clock.Advance(SessionWatch::kPatience);
  EXPECT_THAT(watch.Abandoned({}, clock.Now()), IsEmpty());
  EXPECT_THAT(watch.Abandoned({{"a", 7}}, clock.Now()), IsEmpty());
}

}  // namespace
}  // namespace braid::settlement::migration
