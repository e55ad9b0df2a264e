#include "base/strings.h"

#include "base/testing/testing.h"

namespace braid {
namespace {

TEST(StringsTest, StrCat) { EXPECT_EQ(StrCat("a", 1, ' ', 2.5, true), "a1 2.5true"); }

TEST(StringsTest, Hex) {
  EXPECT_EQ(Hex(""), "");
  EXPECT_EQ(Hex(std::string_view("\x00\x0f\xff", 3)), "000fff");
}

TEST(StringsTest, SplitGivesAtLeastOnePart) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(Split("", '.'), Parts({""}));
  EXPECT_EQ(Split("a", '.'), Parts({"a"}));
  EXPECT_EQ(Split("a.b..c.", '.'), Parts({"a", "b", "", "c", ""}));
}

TEST(StringsTest, IsUtf8) {
  for (const char* text : {"", "abc", "é", "日本", "😀", "\xf4\x8f\xbf\xbf"}) EXPECT_TRUE(IsUtf8(text)) << Hex(text);
  for (const char* text : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe6\x97", "a\xff"}) {
    EXPECT_FALSE(IsUtf8(text)) << Hex(text);
  }
}

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
