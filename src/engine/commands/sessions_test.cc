// Sessions: known by being used, gone when ended or idle for too long.
#include "engine/commands/sessions.h"

#include "base/testing/testing.h"

namespace braid::commands {
namespace {

TEST(SessionsTest, TouchedAndEnded) {
  ManualClock clock;
  Sessions sessions(clock);
  sessions.Touch("a");
  sessions.Touch("a");
  sessions.Touch("b");
  EXPECT_EQ(sessions.size(), 2u);
  EXPECT_TRUE(sessions.End("a"));
  EXPECT_FALSE(sessions.End("a"));
  EXPECT_EQ(sessions.size(), 1u);
}

TEST(SessionsTest, IdleForTooLong) {
  ManualClock clock;
  Sessions sessions(clock);
  sessions.Touch("idle");
  sessions.Touch("used");
  clock.Advance(std::chrono::minutes(kSessionTimeoutMinutes));
  EXPECT_TRUE(sessions.Expire().empty()) << "not longer than the timeout yet";
  sessions.Touch("used");
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(sessions.Expire(), std::vector<std::string>{"idle"});
  int64_t last_use = 0;
  sessions.ForEach([&](std::string_view lsid, int64_t millis) {
    EXPECT_EQ(lsid, "used");
    last_use = millis;
  });
  EXPECT_EQ(last_use, clock.NowMillis() - 1);
}

}  // namespace
}  // namespace braid::commands
