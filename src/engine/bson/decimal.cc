// Decimal128 through Intel's library (variant 000: arguments by value, rounding mode and flags passed).
#include "engine/bson/decimal.h"

#define DECIMAL_CALL_BY_REFERENCE 0
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>
#include <bson/bson.h>

#include <strings.h>

#include <algorithm>
#include <cmath>

namespace braid::bson::decimal {
namespace {

constexpr int kExponentBias = 6176;  // the exponent field of 1E0
constexpr uint64_t kNaNBits = 0x7c00'0000'0000'0000;
constexpr uint64_t kInfinityBits = 0x7800'0000'0000'0000;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

BID_UINT128 In(Decimal128 v) {
  BID_UINT128 out;
  out.w[0] = v.low;
  out.w[1] = v.high;
  return out;
}
Decimal128 Out(BID_UINT128 v) { return {v.w[0], v.w[1]}; }

/// 1 × 10^exponent, with that exponent.
Decimal128 Quantum(int exponent) { return {1, static_cast<uint64_t>(exponent + kExponentBias) << 49}; }

int Mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::kHalfEven: return BID_ROUNDING_TO_NEAREST;
    case Rounding::kDown: return BID_ROUNDING_DOWN;
    case Rounding::kUp: return BID_ROUNDING_UP;
    case Rounding::kTowardZero: return BID_ROUNDING_TO_ZERO;
    case Rounding::kHalfAway: return BID_ROUNDING_TIES_AWAY;
  }
  return BID_ROUNDING_TO_NEAREST;
}

Decimal128 Quantize(Decimal128 a, int exponent, Rounding rounding) {
  unsigned flags = 0;
  return Out(bid128_quantize(In(a), In(Quantum(exponent)), Mode(rounding), &flags));
}

/// The function with the default rounding and its flags ignored.
template <auto kFunction, typename... Args>
Decimal128 Call(Args... args) {
  unsigned flags = 0;
  return Out(kFunction(In(args)..., BID_ROUNDING_TO_NEAREST, &flags));
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// The number rewritten as sign, at most 41 digits, E and exponent, so that Intel's parser never sees long text;
/// nullopt if it is not a number. Digits past the 40th only matter as zero or non-zero, which is enough to round to 34.
std::optional<std::string> Plain(std::string_view text) {
  std::string out;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    out.push_back(text[0]);
    text.remove_prefix(1);
  }
  if (EqualsIgnoringCase(text, "inf") || EqualsIgnoringCase(text, "infinity")) return out + "Inf";
  if (EqualsIgnoringCase(text, "nan")) return "NaN";

  constexpr int64_t kExponentMax = 1'000'000;  // beyond any decimal, whatever the digits
  int64_t exponent = 0;
  size_t digits = 0, significant = 0, at = 0;
  bool point = false, more = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    ++digits;
    if (point) --exponent;
    if (c == '0' && significant == 0) continue;
    if (significant < 40) {
      out.push_back(c);
      ++significant;
    } else {
      more = more || c != '0';
      ++exponent;
    }
  }
  if (digits == 0) return std::nullopt;
  if (significant == 0) out.push_back('0');
  if (more) {
    out.push_back('1');
    --exponent;
  }
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    ++at;
    const bool negative = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (at == text.size()) return std::nullopt;
    int64_t written = 0;
    for (; at < text.size(); ++at) {
      if (text[at] < '0' || text[at] > '9') return std::nullopt;
      written = std::min(written * 10 + (text[at] - '0'), kExponentMax);
    }
    exponent += negative ? -written : written;
  }
  return out + "E" + std::to_string(std::clamp(exponent, -kExponentMax, kExponentMax));
}

}  // namespace

Decimal128 FromInt64(int64_t v) { return Out(bid128_from_int64(v)); }

Decimal128 FromDouble(double v) {
  unsigned flags = 0;
  const BID_UINT128 converted = binary64_to_bid128(v, BID_ROUNDING_TO_NEAREST, &flags);
  if (std::isnan(v)) return {0, kNaNBits};
  if (v == 0 || std::isinf(v)) return Out(converted);
  const int exponent = bid128_ilogb(converted, &flags);
  constexpr uint64_t kTenTo15 = 1'000'000'000'000'000;
  const Decimal128 rounded = Quantize(Out(converted), exponent - 14, Rounding::kHalfEven);
  return rounded.low == kTenTo15 ? Quantize(rounded, exponent - 13, Rounding::kHalfEven) : rounded;
}

Decimal128 FromDouble34(double v) {
  unsigned flags = 0;
  return std::isnan(v) ? Decimal128{0, kNaNBits} : Out(binary64_to_bid128(v, BID_ROUNDING_TO_NEAREST, &flags));
}

std::optional<Decimal128> FromString(std::string_view text) {
  const std::optional<std::string> plain = Plain(text);
  if (!plain) return std::nullopt;
  unsigned flags = 0;
  std::string buffer = *plain;
  const BID_UINT128 result = bid128_from_string(buffer.data(), BID_ROUNDING_TO_NEAREST, &flags);
  if ((flags & (BID_OVERFLOW_EXCEPTION | BID_UNDERFLOW_EXCEPTION)) != 0) return std::nullopt;
  return Out(result);
}

std::string ToString(Decimal128 v) {
  // More than 34 digits are not canonical: the standard reads them as 0, libbson as they are.
  if (bid128_isCanonical(In(v)) == 0 && IsZero(v)) {
    unsigned flags = 0;
    const int exponent = bid128_quantexp(In(v), &flags);
    v = {0, (v.high & kSignBit) | static_cast<uint64_t>(exponent + kExponentBias) << 49};
  }
  bson_decimal128_t in;
  in.low = v.low;
  in.high = v.high;
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&in, text);
  return text;
}

double ToDouble(Decimal128 v) {
  unsigned flags = 0;
  return bid128_to_binary64(In(v), BID_ROUNDING_TO_NEAREST, &flags);
}

double ToDoubleTowardZero(Decimal128 v, bool* exact) {
  unsigned flags = 0;
  const double result = bid128_to_binary64(In(v), BID_ROUNDING_TO_ZERO, &flags);
  *exact = (flags & BID_INEXACT_EXCEPTION) == 0;
  return result;
}

bool IsNaN(Decimal128 v) { return (v.high & kNaNBits) == kNaNBits; }
bool IsInfinite(Decimal128 v) { return (v.high & kNaNBits) == kInfinityBits; }
bool IsNegative(Decimal128 v) { return (v.high & kSignBit) != 0; }
bool IsZero(Decimal128 v) { return bid128_isZero(In(v)) != 0; }

int Compare(Decimal128 a, Decimal128 b) {
  if (IsNaN(a) || IsNaN(b)) return static_cast<int>(IsNaN(b)) - static_cast<int>(IsNaN(a));
  unsigned flags = 0;
  if (bid128_quiet_less(In(a), In(b), &flags) != 0) return -1;
  return bid128_quiet_greater(In(a), In(b), &flags);
}

int CompareDouble(Decimal128 a, double b) {
  if (IsNaN(a) || std::isnan(b)) return static_cast<int>(std::isnan(b)) - static_cast<int>(IsNaN(a));
  unsigned flags = 0;
  const Decimal128 below = Out(binary64_to_bid128(b, BID_ROUNDING_DOWN, &flags));
  const int order = Compare(a, below);
  if (order != 0 || (flags & BID_INEXACT_EXCEPTION) == 0) return order;
  return -1;  // b lies between `below`, which a equals, and the next decimal
}

Decimal128 Add(Decimal128 a, Decimal128 b) { return Call<bid128_add>(a, b); }
Decimal128 Subtract(Decimal128 a, Decimal128 b) { return Call<bid128_sub>(a, b); }
Decimal128 Multiply(Decimal128 a, Decimal128 b) { return Call<bid128_mul>(a, b); }
Decimal128 Divide(Decimal128 a, Decimal128 b) { return Call<bid128_div>(a, b); }
Decimal128 Mod(Decimal128 a, Decimal128 b) {
  unsigned flags = 0;
  return Out(bid128_fmod(In(a), In(b), &flags));
}
Decimal128 Negate(Decimal128 a) { return {a.low, a.high ^ kSignBit}; }
Decimal128 Abs(Decimal128 a) { return {a.low, a.high & ~kSignBit}; }
Decimal128 Sqrt(Decimal128 a) { return Call<bid128_sqrt>(a); }
Decimal128 Exp(Decimal128 a) { return Call<bid128_exp>(a); }
Decimal128 Ln(Decimal128 a) { return Call<bid128_log>(a); }
Decimal128 Log2(Decimal128 a) { return Call<bid128_log2>(a); }
Decimal128 Log10(Decimal128 a) { return Call<bid128_log10>(a); }
Decimal128 Pow(Decimal128 a, Decimal128 b) {
  // Adding the zero of the smallest exponent spreads the result over all 34 digits, as MongoDB shows powers.
  return Add(Call<bid128_pow>(a, b), {0, 0});
}
Decimal128 Sin(Decimal128 a) { return Call<bid128_sin>(a); }
Decimal128 Cos(Decimal128 a) { return Call<bid128_cos>(a); }
Decimal128 Tan(Decimal128 a) { return Call<bid128_tan>(a); }
Decimal128 Asin(Decimal128 a) { return Call<bid128_asin>(a); }
Decimal128 Acos(Decimal128 a) { return Call<bid128_acos>(a); }
Decimal128 Atan(Decimal128 a) { return Call<bid128_atan>(a); }
Decimal128 Atan2(Decimal128 y, Decimal128 x) { return Call<bid128_atan2>(y, x); }
Decimal128 Sinh(Decimal128 a) { return Call<bid128_sinh>(a); }
Decimal128 Cosh(Decimal128 a) { return Call<bid128_cosh>(a); }
Decimal128 Tanh(Decimal128 a) { return Call<bid128_tanh>(a); }
Decimal128 Asinh(Decimal128 a) { return Call<bid128_asinh>(a); }
Decimal128 Acosh(Decimal128 a) { return Call<bid128_acosh>(a); }
Decimal128 Atanh(Decimal128 a) { return Call<bid128_atanh>(a); }

Decimal128 Floor(Decimal128 a) { return IsInfinite(a) ? Decimal128{0, kNaNBits} : Round(a, 0, Rounding::kDown); }
Decimal128 Ceil(Decimal128 a) { return IsInfinite(a) ? Decimal128{0, kNaNBits} : Round(a, 0, Rounding::kUp); }

Decimal128 Round(Decimal128 a, int places, Rounding rounding) {
  if (IsNaN(a) || IsInfinite(a)) return a;
  const Decimal128 rounded = Quantize(a, -places, rounding);
  return IsNaN(rounded) ? a : rounded;  // more than 34 digits would be needed: the value is returned as it is
}

std::optional<int64_t> ToInt64(Decimal128 v, Rounding rounding) {
  unsigned flags = 0;
  int64_t result = 0;
  switch (rounding) {
    case Rounding::kHalfEven: result = bid128_to_int64_rnint(In(v), &flags); break;
    case Rounding::kDown: result = bid128_to_int64_floor(In(v), &flags); break;
    case Rounding::kUp: result = bid128_to_int64_ceil(In(v), &flags); break;
    case Rounding::kTowardZero: result = bid128_to_int64_int(In(v), &flags); break;
    case Rounding::kHalfAway: result = bid128_to_int64_rninta(In(v), &flags); break;
  }
  if ((flags & BID_INVALID_EXCEPTION) != 0) return std::nullopt;
  return result;
}

std::optional<int64_t> ToInt64Exact(Decimal128 v) {
  unsigned flags = 0;
  const int64_t result = bid128_to_int64_xint(In(v), &flags);
  if ((flags & (BID_INVALID_EXCEPTION | BID_INEXACT_EXCEPTION)) != 0) return std::nullopt;
  return result;
}

Scaled Scale(Decimal128 v) {
  __extension__ using Uint128 = unsigned __int128;
  unsigned flags = 0;
  const int exponent = bid128_ilogb(In(v), &flags);
  // A coefficient below 2^113 and its own exponent: the other form of the encoding only holds non-canonical zeros.
  Uint128 coefficient = (Uint128{v.high & ((uint64_t{1} << 49) - 1)} << 64) | v.low;
  const int own_exponent = static_cast<int>((v.high & ~kSignBit) >> 49) - kExponentBias;
  for (int missing = 33 - (exponent - own_exponent); missing > 0; --missing) coefficient *= 10;
  return {exponent, static_cast<uint64_t>(coefficient >> 64), static_cast<uint64_t>(coefficient)};
}

}  // namespace braid::bson::decimal
