// Moments as people write them.
#include "cli/common_options.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace braid::cli {
namespace {

TEST(TimeOptionTest, SecondsAndUtc) {
  EXPECT_EQ(ParseTime("0"), 0);
  EXPECT_EQ(ParseTime("1700000000"), 1'700'000'000'000);
  EXPECT_EQ(ParseTime("1970-01-02"), 86'400'000);
  EXPECT_EQ(ParseTime("2024-02-29T12:34:56"), 1'709'210'096'000);
  EXPECT_EQ(ParseTime("2024-02-29T12:34:56Z"), 1'709'210'096'000);
  EXPECT_EQ(ParseTime("2024-02-29 12:34:56"), 1'709'210'096'000);
}

TEST(TimeOptionTest, WhatIsWrittenIsRead) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(1'709'210'096'007), "2024-02-29T12:34:56.007Z");
  for (const int64_t time : {int64_t{1}, int64_t{999}, int64_t{1'709'210'096'250}}) {
    EXPECT_EQ(ParseTime(UtcText(time)), time);
  }
}

TEST(TimeOptionTest, WhatIsNoTime) {
  for (const char* text : {"", "yesterday", "-1", "2024-13-01", "2024-02-29T", "12x", "2024-02-29Z", "999999999999999",
                           "2024-02-29T12:34:56.-1Z", "2024-02-29.250Z", "12.250Z", "2023-02-29", "2024-04-31",
                           "2024-02-30T00:00:00Z", "2024-02-29T12:34:60Z"}) {
    EXPECT_EQ(ParseTime(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace braid::cli
