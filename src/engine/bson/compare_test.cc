#include "engine/bson/compare.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "base/testing/testing.h"
#include "engine/bson/collation.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/bson/testing/random_value.h"

namespace braid::bson {
namespace {

using boost::multiprecision::cpp_int;

int SignOf(int order) { return (order > 0) - (order < 0); }

/// Compares two fields of a document.
int CompareIn(const char* json) {
  const Document document = J(json);
  return SignOf(Compare(document.Find("a"), document.Find("b")));
}

/// A number as numerator / denominator, computed by plain integers and from the printed form of a decimal: the oracle.
struct Fraction {
  cpp_int numerator;
  cpp_int denominator = 1;
};
Fraction ExactOf(const Value& value) {
  Fraction out;
  if (value.Is(Type::kDouble)) {
    int exponent = 0;
    const double mantissa = std::frexp(value.AsDouble(), &exponent);
    out.numerator = static_cast<int64_t>(std::ldexp(mantissa, 53));
    (exponent >= 53 ? out.numerator : out.denominator) <<= std::abs(exponent - 53);
  } else if (value.Is(Type::kDecimal128)) {
    const std::string text = decimal::ToString(value.AsDecimal());
    int exponent = 0;
    std::string digits;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == 'E') {
        exponent += std::stoi(text.substr(i + 1));
        break;
      }
      if (text[i] == '.') {
        exponent -= static_cast<int>(
            text.find_first_of('E', i) == std::string::npos ? text.size() - i - 1 : text.find_first_of('E', i) - i - 1);
      } else if (text[i] != '-' && (text[i] != '0' || !digits.empty())) {
        digits.push_back(text[i]);
      }
    }
    out.numerator = cpp_int(digits.empty() ? "0" : digits);
    if (text[0] == '-') out.numerator = -out.numerator;
    (exponent >= 0 ? out.numerator : out.denominator) *= boost::multiprecision::pow(cpp_int(10), std::abs(exponent));
  } else {
    out.numerator = Number::Of(value).AsInteger();
  }
  return out;
}

bool IsFinite(const Value& value) {
  if (value.Is(Type::kDouble)) return std::isfinite(value.AsDouble());
  if (!value.Is(Type::kDecimal128)) return true;
  return !decimal::IsNaN(value.AsDecimal()) && !decimal::IsInfinite(value.AsDecimal());
}

TEST(CompareTest, FiniteNumbersAsExactFractions) {
  Random random(test::Seed());
  RandomValue make(random);
  std::vector<OwnedValue> values;
  std::vector<Fraction> exact;
  while (values.size() < 250) {
    const OwnedValue value = make.Number();
    if (!IsFinite(value)) continue;
    values.push_back(value);
    exact.push_back(ExactOf(value));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < values.size(); ++k) {
      const cpp_int left = exact[i].numerator * exact[k].denominator;
      const cpp_int right = exact[k].numerator * exact[i].denominator;
      ASSERT_EQ(SignOf(Compare(values[i].value(), values[k].value())), SignOf(left.compare(right)))
          << ToShell(values[i].value()) << " and " << ToShell(values[k].value());
    }
  }
}

TEST(CompareTest, IsTransitiveAndAntisymmetric) {
  Random random(test::Seed());
  RandomValue make(random);
  std::vector<OwnedValue> values;
  for (int i = 0; i < 60; ++i) values.push_back(make.Number());
  for (int i = 0; i < 60; ++i) values.push_back(make.Any());
  const auto order = [&](size_t i, size_t k) { return SignOf(Compare(values[i].value(), values[k].value())); };
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(order(i, i), 0) << ToShell(values[i].value());
    for (size_t k = 0; k < values.size(); ++k) {
      ASSERT_EQ(order(i, k), -order(k, i)) << ToShell(values[i].value()) << " and " << ToShell(values[k].value());
      if (order(i, k) > 0) continue;
      for (size_t m = 0; m < values.size(); ++m) {
        if (order(k, m) > 0) continue;
        ASSERT_LE(order(i, m), 0) << ToShell(values[i].value()) << ", " << ToShell(values[k].value()) << ", "
                                  << ToShell(values[m].value());
      }
    }
  }
}

TEST(CompareTest, NumbersAcrossTypesAreNotRounded) {
  EXPECT_EQ(CompareIn("{'a': {'$numberLong': '9007199254740993'}, 'b': 9007199254740992.0}"), 1);
  EXPECT_EQ(CompareIn("{'a': {'$numberLong': '9223372036854775807'}, 'b': 9223372036854775808.0}"), -1);
  EXPECT_EQ(CompareIn("{'a': {'$numberLong': '-9223372036854775808'}, 'b': -9223372036854775808.0}"), 0);
  EXPECT_EQ(CompareIn("{'a': {'$numberDecimal': '0.1'}, 'b': 0.1}"), -1);  // the double is a little more than 0.1
  EXPECT_EQ(CompareIn("{'a': {'$numberDecimal': '0.3'}, 'b': 0.3}"), 1);
  EXPECT_EQ(CompareIn("{'a': {'$numberDecimal': '0.1000000000000000055511151231257827'}, 'b': 0.1}"), -1);
  EXPECT_EQ(CompareIn("{'a': {'$numberDecimal': '0.1000000000000000055511151231257828'}, 'b': 0.1}"), 1);
  EXPECT_EQ(CompareIn("{'a': {'$numberDecimal': '0.500'}, 'b': 0.5}"), 0);
  EXPECT_EQ(CompareIn("{'a': -0.0, 'b': {'$numberDecimal': '0E+10'}}"), 0);
}

TEST(CompareTest, NaNIsOneValueBelowAllNumbers) {
  EXPECT_EQ(CompareIn("{'a': {'$numberDouble': 'NaN'}, 'b': {'$numberDecimal': 'NaN'}}"), 0);
  EXPECT_EQ(CompareIn("{'a': {'$numberDouble': 'NaN'}, 'b': {'$numberDouble': '-Infinity'}}"), -1);
  EXPECT_EQ(CompareIn("{'a': {'$numberDouble': '-Infinity'}, 'b': {'$numberDecimal': 'NaN'}}"), 1);
  EXPECT_EQ(CompareIn("{'a': 1, 'b': {'$numberDouble': 'NaN'}}"), 1);
  EXPECT_EQ(CompareIn("{'a': {'$numberDouble': 'Infinity'}, 'b': {'$numberDecimal': 'Infinity'}}"), 0);
  EXPECT_EQ(CompareIn("{'a': null, 'b': {'$numberDouble': 'NaN'}}"), -1);
}

TEST(CompareTest, TypesInTheirOrder) {
  const Document ordered =
      J("{'0': {'$minKey': 1}, '1': {'$undefined': true}, '2': null, '3': 1e300, '4': '', '5': {}, '6': [], "
        "'7': {'$binary': {'base64': '', 'subType': '00'}}, '8': {'$oid': '000000000000000000000000'}, '9': false, "
        "'10': {'$date': {'$numberLong': '-1'}}, '11': {'$timestamp': {'t': 0, 'i': 0}}, "
        "'12': {'$regularExpression': {'pattern': '', 'options': ''}}, "
        "'13': {'$dbPointer': {'$ref': '', '$id': {'$oid': '000000000000000000000000'}}}, '14': {'$code': ''}, "
        "'15': {'$code': '', '$scope': {}}, '16': {'$maxKey': 1}}");
  Value before;
  for (const Element& element : ordered.view()) {
    EXPECT_TRUE(before.missing() || Compare(before, element.value) < 0) << element.name;
    before = element.value;
  }
  EXPECT_EQ(Compare(Value(), ordered.Find("1")), 0);  // missing is undefined
  EXPECT_EQ(CompareIn("{'a': {'$symbol': 'x'}, 'b': 'x'}"), 0);
}

TEST(CompareTest, DocumentsByTypeThenNameThenValue) {
  EXPECT_EQ(CompareIn("{'a': {'z': 1}, 'b': {'a': 'x'}}"), -1);  // the number's type is below the string's
  EXPECT_EQ(CompareIn("{'a': {'a': 9}, 'b': {'b': 1}}"), -1);
  EXPECT_EQ(CompareIn("{'a': {'a': 1}, 'b': {'a': 1.0}}"), 0);
  EXPECT_EQ(CompareIn("{'a': {'a': 1}, 'b': {'a': 1, 'b': null}}"), -1);
  EXPECT_EQ(CompareIn("{'a': {'a': 1, 'b': 1}, 'b': {'b': 1, 'a': 1}}"), -1);
  EXPECT_EQ(CompareIn("{'a': [1, 2], 'b': [1, 3]}"), -1);
  EXPECT_EQ(CompareIn("{'a': [1, 2], 'b': [1]}"), 1);
  EXPECT_EQ(CompareIn("{'a': {'$binary': {'base64': '/w==', 'subType': '09'}}, 'b': {'$binary': {'base64': 'AAA=', "
                      "'subType': '00'}}}"),
            -1);  // the shorter one
}

TEST(CompareTest, StringsByBytesOrByCollation) {
  const auto collation = *Collation::Parse(J("{'locale': 'en', 'strength': 2}"));
  const Document document = J("{'a': 'ABC', 'b': 'abc', 'c': ['ABC'], 'd': ['abc'], 'e': {'x': 'É'}, 'f': {'x': 'é'}}");
  EXPECT_LT(Compare(document.Find("a"), document.Find("b")), 0);
  EXPECT_EQ(Compare(document.Find("a"), document.Find("b"), collation.get()), 0);
  EXPECT_EQ(Compare(document.Find("c"), document.Find("d"), collation.get()), 0);
  EXPECT_EQ(Compare(document.Find("e"), document.Find("f"), collation.get()), 0);
  EXPECT_EQ(HashOf(document.Find("e"), collation.get()), HashOf(document.Find("f"), collation.get()));
  const Document nul = Make("a", std::string("a\0b", 3), "b", std::string("a\0c", 3), "c", "a");
  EXPECT_LT(Compare(nul.Find("a"), nul.Find("b")), 0);
  EXPECT_GT(Compare(nul.Find("a"), nul.Find("c")), 0);
}

}  // namespace
}  // namespace braid::bson
