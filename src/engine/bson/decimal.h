// Decimal128 arithmetic, through Intel's decimal library. The only file that includes it is decimal.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace braid::bson::decimal {

Decimal128 FromInt64(int64_t v);
/// As MongoDB converts a double where a decimal is needed: 15 significant digits.
Decimal128 FromDouble(double v);
/// The nearest decimal of 34 digits, no trailing zeros added: what $add and $sum make of their doubles.
Decimal128 FromDouble34(double v);
/// IEEE conversion from text, rounded half-even to 34 digits; nullopt if the text is not a number, or is too big or too
/// small.
std::optional<Decimal128> FromString(std::string_view text);
std::string ToString(Decimal128 v);
double ToDouble(Decimal128 v);
/// The double nearest to v whose magnitude is not larger, and whether it equals v. Beyond the greatest double: that
/// one.
double ToDoubleTowardZero(Decimal128 v, bool* exact);

bool IsNaN(Decimal128 v);
bool IsInfinite(Decimal128 v);
bool IsNegative(Decimal128 v);  ///< sign bit
bool IsZero(Decimal128 v);

/// Exact; NaN equals NaN and is below everything; -0 equals 0.
int Compare(Decimal128 a, Decimal128 b);
/// Exact: the double is not rounded to 34 digits first.
int CompareDouble(Decimal128 a, double b);

Decimal128 Add(Decimal128 a, Decimal128 b);
Decimal128 Subtract(Decimal128 a, Decimal128 b);
Decimal128 Multiply(Decimal128 a, Decimal128 b);
Decimal128 Divide(Decimal128 a, Decimal128 b);
Decimal128 Mod(Decimal128 a, Decimal128 b);  ///< sign of the dividend, as C's fmod
Decimal128 Negate(Decimal128 a);
Decimal128 Abs(Decimal128 a);
Decimal128 Sqrt(Decimal128 a);
Decimal128 Exp(Decimal128 a);
Decimal128 Ln(Decimal128 a);
Decimal128 Log2(Decimal128 a);
Decimal128 Log10(Decimal128 a);
Decimal128 Pow(Decimal128 a, Decimal128 b);
Decimal128 Sin(Decimal128 a);
Decimal128 Cos(Decimal128 a);
Decimal128 Tan(Decimal128 a);
Decimal128 Asin(Decimal128 a);
Decimal128 Acos(Decimal128 a);
Decimal128 Atan(Decimal128 a);
Decimal128 Atan2(Decimal128 y, Decimal128 x);
Decimal128 Sinh(Decimal128 a);
Decimal128 Cosh(Decimal128 a);
Decimal128 Tanh(Decimal128 a);
Decimal128 Asinh(Decimal128 a);
Decimal128 Acosh(Decimal128 a);
Decimal128 Atanh(Decimal128 a);
Decimal128 Floor(Decimal128 a);
Decimal128 Ceil(Decimal128 a);

enum class Rounding { kHalfEven, kDown, kUp, kTowardZero, kHalfAway };
/// Keeps `places` digits after the point (negative: before it). NaN, infinities and what would need more than 34 digits
/// stay as they are; Floor and Ceil of an infinity are NaN, as MongoDB has it.
Decimal128 Round(Decimal128 a, int places, Rounding rounding);
/// The integer nearest by `rounding`; nullopt if it does not fit, or NaN.
std::optional<int64_t> ToInt64(Decimal128 v, Rounding rounding);
/// The value if it is an integer that fits, exactly.
std::optional<int64_t> ToInt64Exact(Decimal128 v);

/// |v| as d.ddd… × 10^exponent with exactly 34 digits, the point left out: high << 64 | low. One form for each value,
/// so that (exponent, high, low) orders magnitudes. Only for finite values other than 0.
struct Scaled {
  int exponent;
  uint64_t high;
  uint64_t low;
};
Scaled Scale(Decimal128 v);

}  // namespace braid::bson::decimal
