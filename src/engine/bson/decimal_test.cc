#include "engine/bson/decimal.h"

#include <cmath>
#include <limits>

#include "base/testing/testing.h"

namespace braid::bson::decimal {
namespace {

Decimal128 D(std::string_view text) { return FromString(text).value(); }

TEST(DecimalTest, FromDoubleKeeps15Digits) {
  EXPECT_EQ(ToString(FromDouble(0.1)), "0.100000000000000");
  EXPECT_EQ(ToString(FromDouble(1.0)), "1.00000000000000");
  EXPECT_EQ(ToString(FromDouble(-2.5)), "-2.50000000000000");
  EXPECT_EQ(ToString(FromDouble(9007199254740992.0)), "9.00719925474099E+15");
  EXPECT_EQ(ToString(FromDouble(1e308)), "1.00000000000000E+308");
  EXPECT_EQ(ToString(FromDouble(5e-324)), "4.94065645841247E-324");
  EXPECT_EQ(ToString(FromDouble(0.9999999999999999)), "1.00000000000000");
  EXPECT_EQ(ToString(FromDouble(0.0)), "0");
  EXPECT_EQ(ToString(FromDouble(-0.0)), "-0");
  EXPECT_EQ(ToString(FromDouble(-std::numeric_limits<double>::infinity())), "-Infinity");
  EXPECT_EQ(ToString(FromDouble(-std::nan(""))), "NaN");
}

TEST(DecimalTest, FromDouble34KeepsWhatFits) {
  EXPECT_EQ(ToString(FromDouble34(1.0)), "1");
  EXPECT_EQ(ToString(FromDouble34(-2.5)), "-2.5");
  EXPECT_EQ(ToString(FromDouble34(0.1)), "0.1000000000000000055511151231257827");
  EXPECT_EQ(ToString(FromDouble34(std::nan(""))), "NaN");
}

TEST(DecimalTest, FromStringKeepsTheDigitsGiven) {
  for (const char* text :
       {"1", "1.50", "-0", "0.000", "1E+3", "1.2E-10", "NaN", "Infinity", "-Infinity",
        "1234567890123456789012345678901234", "9.999999999999999999999999999999999E+6144", "1E-6176"}) {
    EXPECT_EQ(ToString(D(text)), text);
  }
  EXPECT_EQ(ToString(D("+.5e1")), "5");
  EXPECT_EQ(ToString(D("5.")), "5");
  EXPECT_EQ(ToString(D("inf")), "Infinity");
}

TEST(DecimalTest, FromStringRoundsHalfEvenTo34Digits) {
  const std::string zeros(100, '0');
  EXPECT_EQ(ToString(D("12345678901234567890123456789012345")), "1.234567890123456789012345678901234E+34");
  EXPECT_EQ(ToString(D("12345678901234567890123456789012355")), "1.234567890123456789012345678901236E+34");
  EXPECT_EQ(ToString(D("12345678901234567890123456789012345." + zeros + "1")),
            "1.234567890123456789012345678901235E+34");
  EXPECT_EQ(ToString(D(zeros + "7")), "7");
}

TEST(DecimalTest, FromStringRefusesWhatIsNoNumber) {
  for (const char* text : {"", "+", ".", "e5", "1e", "1e+", "1x", " 1", "1 ", "1.2.3", "--1", "0x10", "infinit", "nano",
                           "1E+7000", "1E-7000", "1e99999999999999999999"}) {
    EXPECT_FALSE(FromString(text).has_value()) << text;
  }
  EXPECT_FALSE(FromString(std::string(10000, '9')).has_value());
}

TEST(DecimalTest, Arithmetic) {
  EXPECT_EQ(ToString(Add(D("0.1"), D("0.2"))), "0.3");
  EXPECT_EQ(ToString(Subtract(D("1"), D("0.9"))), "0.1");
  EXPECT_EQ(ToString(Multiply(D("1.5"), D("1.5"))), "2.25");
  EXPECT_EQ(ToString(Divide(D("1"), D("3"))), "0.3333333333333333333333333333333333");
  EXPECT_EQ(ToString(Mod(D("-7.5"), D("2"))), "-1.5");
  EXPECT_EQ(ToString(Negate(D("0"))), "-0");
  EXPECT_EQ(ToString(Abs(D("-Infinity"))), "Infinity");
  EXPECT_EQ(ToString(Pow(D("1.50"), D("2"))), "2.250000000000000000000000000000000");
  EXPECT_EQ(ToString(Exp(D("1"))), "2.718281828459045235360287471352662");
  EXPECT_EQ(ToString(Log10(D("0.1"))), "-1");
  EXPECT_EQ(ToString(Sqrt(D("0.1"))), "0.3162277660168379331998893544432719");
}

TEST(DecimalTest, Rounding) {
  EXPECT_EQ(ToString(Round(D("2.5"), 0, Rounding::kHalfEven)), "2");
  EXPECT_EQ(ToString(Round(D("2.5"), 0, Rounding::kHalfAway)), "3");
  EXPECT_EQ(ToString(Round(D("-2.55"), 1, Rounding::kTowardZero)), "-2.5");
  EXPECT_EQ(ToString(Round(D("1234"), -2, Rounding::kUp)), "1.3E+3");
  EXPECT_EQ(ToString(Round(D("-0"), 5, Rounding::kHalfEven)), "-0.00000");
  EXPECT_EQ(ToString(Round(D("Infinity"), 0, Rounding::kHalfEven)), "Infinity");
  EXPECT_EQ(ToString(Round(D("1E+100"), 0, Rounding::kHalfEven)), "1E+100");
  EXPECT_EQ(ToString(Floor(D("-0.1"))), "-1");
  EXPECT_EQ(ToString(Ceil(D("1.50"))), "2");
  EXPECT_EQ(ToString(Ceil(D("Infinity"))), "NaN");
}

TEST(DecimalTest, ToInt64) {
  EXPECT_EQ(ToInt64(D("2.5"), Rounding::kHalfEven), 2);
  EXPECT_EQ(ToInt64(D("-2.5"), Rounding::kDown), -3);
  EXPECT_EQ(ToInt64(D("-2.5"), Rounding::kTowardZero), -2);
  EXPECT_EQ(ToInt64(D("9223372036854775808"), Rounding::kHalfEven), std::nullopt);
  EXPECT_EQ(ToInt64(D("NaN"), Rounding::kHalfEven), std::nullopt);
  EXPECT_EQ(ToInt64Exact(D("-9223372036854775808.0")), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ToInt64Exact(D("1E+3")), 1000);
  EXPECT_EQ(ToInt64Exact(D("1.5")), std::nullopt);
  EXPECT_EQ(ToInt64Exact(D("Infinity")), std::nullopt);
}

TEST(DecimalTest, ToDoubleTowardZeroTellsWhetherItIsExact) {
  bool exact = false;
  EXPECT_EQ(ToDoubleTowardZero(D("0.5"), &exact), 0.5);
  EXPECT_TRUE(exact);
  EXPECT_EQ(ToDoubleTowardZero(D("1E-6176"), &exact), 0.0);
  EXPECT_FALSE(exact);
  EXPECT_EQ(ToDoubleTowardZero(D("1E+400"), &exact), std::numeric_limits<double>::max());
  EXPECT_FALSE(exact);
  EXPECT_EQ(ToDoubleTowardZero(D("0.3"), &exact), 0.3);  // 0.3 as a double is below 3/10
  EXPECT_FALSE(exact);
}

}  // namespace
}  // namespace braid::bson::decimal
