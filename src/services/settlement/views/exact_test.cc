#include "services/settlement/views/exact.h"

#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::settlement::views {
namespace {

std::string Sum(std::initializer_list<std::string_view> terms) {
  bson_decimal128_t sum = Zero();
  for (const std::string_view term : terms) {
    const auto parsed = ParseExactly(term);
    if (!parsed.ok()) return parsed.error().ToString();
    const auto next = AddExactly(sum, *parsed);
    if (!next.ok()) return CodeName(next.error().code());
    sum = *next;
  }
  return TextOf(sum);
}

TEST(ExactTest, TenthsAreTenths) {
  EXPECT_EQ(Sum({"0.1", "0.2"}), "0.3");
  EXPECT_EQ(Sum({"0.1", "0.2", "-0.3"}), "0");
  EXPECT_EQ(Sum({"-0.00000001"}), "-1E-8");
}

TEST(ExactTest, ThirtyFourDigitsAndNoMore) {
  EXPECT_EQ(Sum({"123456789012345678901234567890", "0.0001"}), "123456789012345678901234567890.0001");
  EXPECT_EQ(Sum({"123456789012345678901234567890", "0.00001"}), "Overflow");
  EXPECT_EQ(Sum({"9999999999999999999999999999999999", "1"}), "1.000000000000000000000000000000000E+34");
  EXPECT_EQ(Sum({"9999999999999999999999999999999999", "2"}), "Overflow");
}

TEST(ExactTest, OneSpellingAValue) {
  EXPECT_EQ(Sum({"1.50"}), "1.5");
  EXPECT_EQ(Sum({"100"}), "100");
  EXPECT_EQ(Sum({"1E+2"}), "100");
  EXPECT_EQ(Sum({"-0.00"}), "0");
  EXPECT_EQ(Sum({"99.5", "0.50"}), "100");
  EXPECT_EQ(Sum({"12300", "-0.0"}), Sum({"12299.99", "0.01"}));
}

TEST(ExactTest, OnlyFiniteNumbers) {
  for (const std::string_view text :
       {"NaN", "Infinity", "-Infinity", "", "1,5", "12345678901234567890123456789012345"}) {
    EXPECT_EQ(ParseExactly(text).status().code(), Code::kBadValue) << text;
  }
}

// Any order of the same terms gives the same bytes, and they are those of integer arithmetic.
TEST(ExactTest, OrderDoesNotMatter) {
  Random random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> terms;
    for (int i = 0; i < 20; ++i) terms.push_back(static_cast<int64_t>(random.Next() >> 20) - (int64_t{1} << 43));
    int64_t total = 0;
    bson_decimal128_t forward = Zero();
    bson_decimal128_t backward = Zero();
    const auto term = [&](size_t i) { return *ParseExactly(StrCat(terms[i], "E-", i % 9)); };
    for (size_t i = 0; i < terms.size(); ++i) {
      forward = *AddExactly(forward, term(i));
      backward = *AddExactly(backward, term(terms.size() - 1 - i));
    }
    EXPECT_EQ(TextOf(forward), TextOf(backward));
    bson_decimal128_t whole = Zero();
    for (const int64_t value : terms) {
      total += value;
      whole = *AddExactly(whole, *ParseExactly(StrCat(value)));
    }
    EXPECT_EQ(TextOf(whole), StrCat(total));
  }
}

}  // namespace
}  // namespace braid::settlement::views
