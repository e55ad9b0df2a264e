#include "engine/wire/lane.h"

#include <string>

#include "base/testing/testing.h"

namespace braid::wire {
namespace {

class LaneTest : public testing::Test {
 protected:
  void Push(int turns, char name) {
    lane_.Push(turns, [this, name] { ran_ += name; });
    ++pushed_;
  }
  std::string RunAll() {
    for (; pushed_ > 0; --pushed_) lane_.RunNext();
    return std::exchange(ran_, "");
  }

  Lane lane_;
  std::string ran_;
  int pushed_ = 0;
};

TEST_F(LaneTest, OfOneAgeTheFirstToComeGoesFirst) {
  for (const char name : {'a', 'b', 'c'}) Push(0, name);
  EXPECT_EQ(RunAll(), "abc");
  for (const char name : {'x', 'y', 'z'}) Push(Lane::kYoungTurns, name);
  EXPECT_EQ(RunAll(), "xyz");
}

TEST_F(LaneTest, YoungOnesGoFirst) {
  for (const char name : {'x', 'y', 'z'}) Push(Lane::kYoungTurns, name);
  Push(0, 'a');
  Push(Lane::kYoungTurns - 1, 'b');
  EXPECT_EQ(RunAll(), "abxyz");
}

TEST_F(LaneTest, OldOnesGetTheirShareWhateverComes) {
  for (const char name : {'x', 'y', 'z'}) Push(100, name);
  for (int i = 0; i < 12; ++i) Push(0, '.');
  EXPECT_EQ(RunAll(), "...x...y...z...");
}

TEST_F(LaneTest, AStretchMayPushTheNext) {
  lane_.Push(0, [this] { Push(1, 'b'); });
  lane_.RunNext();
  EXPECT_EQ(RunAll(), "b");
  EXPECT_EQ(lane_.figures().waiting.load(), 0);
  EXPECT_EQ(lane_.figures().waits.load(), 2u);
}

}  // namespace
}  // namespace braid::wire
