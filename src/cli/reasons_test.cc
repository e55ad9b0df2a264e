// The same reason is counted, not repeated.
#include "cli/reasons.h"

#include <gmock/gmock.h>

#include "base/strings.h"

namespace braid::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReasonsTest, TheSameReasonIsShownOnceAndCounted) {
  Reasons reasons;
  EXPECT_TRUE(reasons.Add("staking_value is -5; it must be at least 0"));
  EXPECT_THAT(reasons.Repeated(), IsEmpty());
  EXPECT_FALSE(reasons.Add("staking_value is -17; it must be at least 0"));
  EXPECT_FALSE(reasons.Add("staking_value is -17; it must be at least 0"));
  EXPECT_TRUE(reasons.Add("price is 'x', which is not a decimal"));
  EXPECT_FALSE(reasons.Add("price is 'y z', which is not a decimal"));
  EXPECT_TRUE(reasons.Add("it's another"));
  EXPECT_THAT(reasons.Repeated(), ElementsAre("and 1 more: price is 'x', which is not a decimal",
                                              "and 2 more: staking_value is -5; it must be at least 0"));
}

TEST(ReasonsTest, ManyKindsAreOnlyCounted) {
  Reasons reasons;
  int shown = 0;
  for (char a = 'a'; a <= 'z'; ++a) shown += reasons.Add(StrCat("kind ", std::string(1, a))) ? 1 : 0;
  EXPECT_EQ(shown, 20);
  EXPECT_THAT(reasons.Repeated(), ElementsAre("and 6 more for other reasons"));
}

}  // namespace
}  // namespace braid::cli
