#include "services/settlement/views/amount.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::settlement::views {
namespace {

Amount AmountOf(std::string_view text) {
  const auto parsed = Amount::Parse(text);
  EXPECT_OK(parsed);
  return parsed.value_or(Amount());
}

Amount Sum(std::initializer_list<std::string_view> terms) {
  Amount sum;
  for (const std::string_view term : terms) sum += AmountOf(term);
  return sum;
}

// As it is stored: a Decimal128's text, or a string's in quotation marks.
std::string Stored(const Amount& amount) {
  client::Documents documents;
  documents.Begin();
  amount.AppendTo(documents, "x");
  documents.End();
  const bson_t* const document = documents.All().front();
  const auto read = Amount::Read(*document, "x");
  EXPECT_OK(read);
  EXPECT_EQ(read.value_or(Amount()), amount);
  bson_iter_t field;
  bson_decimal128_t decimal;
  bson_iter_init_find(&field, document, "x");
  if (!bson_iter_decimal128(&field, &decimal)) return StrCat("'", client::TextOf(document, "x"), "'");
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&decimal, text);
  return text;
}

TEST(AmountTest, TenthsAreTenths) {
  EXPECT_EQ(Stored(Sum({"0.1", "0.2"})), "0.3");
  EXPECT_EQ(Stored(Sum({"0.1", "0.2", "-0.3"})), "0");
  EXPECT_EQ(Stored(Sum({"-0.00000001"})), "-1E-8");
  EXPECT_EQ(Sum({"-0.00000001"}).ToString(), "-0.00000001");
}

TEST(AmountTest, MoreThanThirtyFourDigitsAreAString) {
  const std::string nines(34, '9');
  EXPECT_EQ(Stored(Sum({"123456789012345678901234567890", "0.0001"})), "123456789012345678901234567890.0001");
  EXPECT_EQ(Stored(Sum({"123456789012345678901234567890", "0.00001"})), "'123456789012345678901234567890.00001'");
  EXPECT_EQ(Stored(Sum({nines, "1"})), "1.000000000000000000000000000000000E+34");
  EXPECT_EQ(Stored(Sum({nines, "2"})), StrCat("'1", std::string(33, '0'), "1'"));
  EXPECT_EQ(Stored(Sum({nines, "0.1"})), StrCat("'", nines, ".1'"));
  EXPECT_EQ(Stored(Sum({StrCat("-", nines), "-0.1"})), StrCat("'-", nines, ".1'"));
  EXPECT_EQ(Stored(Sum({nines, "0.1", StrCat("-", nines)})), "0.1");
}

TEST(AmountTest, OneSpellingAValue) {
  EXPECT_EQ(Stored(AmountOf("1.50")), "1.5");
  EXPECT_EQ(Stored(AmountOf("100")), "100");
  EXPECT_EQ(Stored(AmountOf("-0.00")), "0");
  EXPECT_EQ(Stored(Sum({"99.5", "0.50"})), "100");
  EXPECT_EQ(Sum({"12300", "-0.0"}), Sum({"12299.99", "0.01"}));
  EXPECT_EQ(Stored(AmountOf("007.10")), "7.1");
}

TEST(AmountTest, OnlyDecimals) {
  for (const std::string_view text : {"NaN", "Infinity", "", "-", ".", "1.", ".5", "1,5", "1E+2", "--1", "1.2.3"}) {
    EXPECT_EQ(Amount::Parse(text).status().code(), Code::kBadValue) << text;
  }
  EXPECT_EQ(Amount::Parse(std::string(200, '9')).status().code(), Code::kBadValue);
  EXPECT_EQ(Amount::Parse("0." + std::string(35, '1')).status().code(), Code::kBadValue);
  client::Bson document;
  bson_decimal128_t value;
  for (const char* const text : {"NaN", "Infinity", "-Infinity", "1E+100", "1E-100"}) {
    ASSERT_TRUE(bson_decimal128_from_string(text, &value));
    document.Clear();
    BSON_APPEND_DECIMAL128(document.get(), "x", &value);
    EXPECT_EQ(Amount::Read(*document.get(), "x").status().code(), Code::kOverflow) << text;
  }
  EXPECT_EQ(Amount::Read(*document.get(), "y").status().code(), Code::kOverflow);
}

// Any order of the same terms gives the same bytes, and they are those of integer arithmetic.
TEST(AmountTest, OrderDoesNotMatter) {
  Random random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    int64_t total = 0;
    std::vector<std::string> terms;
    for (int i = 0; i < 20; ++i) {
      const int64_t units = static_cast<int64_t>(random.Next() >> 20) - (int64_t{1} << 43);
      total += units;
      terms.push_back(StrCat(units));
      const size_t digits = terms.back().size() - (units < 0 ? 1 : 0);
      if (digits <= 9) terms.back().insert(units < 0 ? 1 : 0, 10 - digits, '0');
      terms.back().insert(terms.back().size() - 9, ".");
    }
    Amount forward;
    Amount backward;
    for (size_t i = 0; i < terms.size(); ++i) {
      forward += AmountOf(terms[i]);
      backward += AmountOf(terms[terms.size() - 1 - i]);
    }
    EXPECT_EQ(forward, backward);
    std::string expected = StrCat(total < 0 ? -total : total);
    expected.insert(0, expected.size() <= 9 ? 10 - expected.size() : 0, '0');
    expected.insert(expected.size() - 9, ".");
    EXPECT_EQ(forward, AmountOf((total < 0 ? "-" : "") + expected));
  }
}

}  // namespace
}  // namespace braid::settlement::views
