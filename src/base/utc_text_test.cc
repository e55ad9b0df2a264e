#include "base/utc_text.h"

#include <gtest/gtest.h>

namespace braid {
namespace {

TEST(UtcTextTest, HasMillisecondsAlsoBefore1970) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(1'709'210'096'007), "2024-02-29T12:34:56.007Z");
  EXPECT_EQ(UtcText(-1), "1969-12-31T23:59:59.999Z");
}

TEST(UtcTextTest, AnyNumberIsATime) {
  EXPECT_EQ(UtcText(INT64_MIN), "0001-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(INT64_MAX), "9999-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace braid
