// Decimal sums against Boost's integers, and what a digest depends on.
#include "patterns/timeline/sums.h"

#include <boost/multiprecision/cpp_int.hpp>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "client/handles.h"

namespace braid::timeline {
namespace {

using boost::multiprecision::cpp_int;
using client::Bson;

TEST(TimelineSumsTest, AnyIntegersAddUp) {
  Random random(test::Seed());
  const auto any = [&] {
    cpp_int value = 0;
    for (uint64_t limbs = random.Below(4); limbs > 0; --limbs) value = (value << 64) + random.Next();
    value >>= static_cast<unsigned>(random.Below(64));
    return random.Chance(1, 2) ? value : cpp_int(-value);
  };
  for (int i = 0; i < 5000; ++i) {
    const cpp_int a = any();
    const cpp_int b = any();
    EXPECT_EQ(AddDecimals(a.str(), b.str()), cpp_int(a + b).str()) << a << " + " << b;
    EXPECT_EQ(SubtractDecimals(a.str(), b.str()), cpp_int(a - b).str()) << a << " - " << b;
  }
}

TEST(TimelineSumsTest, TheEdgesOfTheShortWay) {
  EXPECT_EQ(AddDecimals("99999999999999999", "99999999999999999"), "199999999999999998");
  EXPECT_EQ(AddDecimals("999999999999999999999", "1"), "1000000000000000000000");
  EXPECT_EQ(SubtractDecimals("-9223372036854775808", "1"), "-9223372036854775809");
  EXPECT_EQ(AddDecimals("007", "-0"), "7");
  EXPECT_EQ(SubtractDecimals("5", "5"), "0");
  EXPECT_EQ(AddDecimals("-000000000000000000000000000000010", "3"), "-7");
}

TEST(TimelineSumsTest, WhatIsNoIntegerIsNotTaken) {
  for (const char* text : {"", "-", "+1", "1.5", "0x10", " 1", "1 ", "--1", "1e3"}) {
    EXPECT_EQ(AddDecimals(text, "1"), std::nullopt) << text;
    EXPECT_EQ(AddDecimals("1", text), std::nullopt) << text;
  }
  EXPECT_EQ(AddDecimals(std::string(10'001, '1'), "1"), std::nullopt);
}

TEST(TimelineDigestTest, TheOrderOfDocumentsDoesNotMatter) {
  Random random(test::Seed());
  DocumentSum forwards;
  DocumentSum backwards;
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back(StrCat(random.Next()));
  const auto add = [](DocumentSum& sum, const std::string& text) {
    Bson document;
    document.Text("_id", text);
    sum.Add("things", *document.get());
  };
  for (size_t i = 0; i < texts.size(); ++i) add(forwards, texts[i]);
  for (size_t i = texts.size(); i-- > 0;) add(backwards, texts[i]);
  EXPECT_EQ(forwards.bytes(), backwards.bytes());
  add(backwards, "one more");
  EXPECT_NE(forwards.bytes(), backwards.bytes());
}

// The sum against one of big integers: carries go through all of its words.
TEST(TimelineDigestTest, TheSumIsThatOfTheHashes) {
  const auto number_of = [](const std::string& bytes) { return cpp_int("0x" + Hex(bytes)); };
  cpp_int expected = 0;
  DocumentSum sum;
  for (int i = 0; i < 1000; ++i) {
    Bson document;
    document.Integer("_id", i);
    DocumentSum alone;
    alone.Add("things", *document.get());
    expected = (expected + number_of(alone.bytes())) % (cpp_int(1) << 256);
    sum.Add("things", *document.get());
    ASSERT_EQ(number_of(sum.bytes()), expected) << i;
  }
}

TEST(TimelineDigestTest, EveryInputCounts) {
  Bson document;
  document.Text("_id", "a");
  DocumentSum none;
  DocumentSum one;
  one.Add("things", *document.get());
  DocumentSum elsewhere;
  elsewhere.Add("others", *document.get());
  const std::string before(64, 'a');
  const std::string digest = DigestOf({.before = "", .number = 1, .hash = "x", .documents = one});
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_EQ(digest, DigestOf({.before = std::string(64, '0'), .number = 1, .hash = "x", .documents = one}));
  EXPECT_NE(digest, DigestOf({.before = before, .number = 1, .hash = "x", .documents = one}));
  EXPECT_NE(digest, DigestOf({.before = "", .number = 2, .hash = "x", .documents = one}));
  EXPECT_NE(digest, DigestOf({.before = "", .number = 1, .hash = "y", .documents = one}));
  EXPECT_NE(digest, DigestOf({.before = "", .number = 1, .hash = "x", .documents = none}));
  EXPECT_NE(digest, DigestOf({.before = "", .number = 1, .hash = "x", .documents = elsewhere}));
}

}  // namespace
}  // namespace braid::timeline
