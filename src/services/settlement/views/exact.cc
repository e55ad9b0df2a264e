// Decimal128 through Intel's library (variant 000: arguments by value, rounding mode and flags passed), for it tells
// whether a sum was rounded. The store's own $inc rounds and does not say so.
#include "services/settlement/views/exact.h"

#define DECIMAL_CALL_BY_REFERENCE 0
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>

#include "base/strings.h"

namespace braid::settlement::views {
namespace {

__extension__ typedef unsigned __int128 Coefficient;

constexpr int kExponentBias = 6176;  // the exponent field of 1E0
constexpr int kExponentShift = 49;
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kCoefficientBits = (uint64_t{1} << kExponentShift) - 1;

BID_UINT128 In(const bson_decimal128_t& value) {
  BID_UINT128 out;
  out.w[0] = value.low;
  out.w[1] = value.high;
  return out;
}
bson_decimal128_t Out(BID_UINT128 value) {
  bson_decimal128_t out;
  out.low = value.w[0];
  out.high = value.w[1];
  return out;
}

bool IsFinite(const bson_decimal128_t& value) { return bid128_isFinite(In(value)) != 0; }

// 10^33: a coefficient below it has room for one more digit.
consteval Coefficient LargestWithRoom() {
  Coefficient power = 1;
  for (int i = 0; i < 33; ++i) power *= 10;
  return power;
}

}  // namespace

bson_decimal128_t Zero() {
  bson_decimal128_t zero;
  zero.low = 0;
  zero.high = uint64_t{kExponentBias} << kExponentShift;
  return zero;
}

Result<bson_decimal128_t> ParseExactly(std::string_view text) {
  bson_decimal128_t value;
  const bool parsed = bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &value);
  if (!parsed || !IsFinite(value)) {
    return Status(Code::kBadValue, StrCat("\"", text, "\" is not a decimal of at most 34 digits"));
  }
  return Canonical(value);
}

Result<bson_decimal128_t> AddExactly(const bson_decimal128_t& a, const bson_decimal128_t& b) {
  unsigned flags = 0;
  const bson_decimal128_t sum = Out(bid128_add(In(a), In(b), BID_ROUNDING_TO_NEAREST, &flags));
  if ((flags & BID_INEXACT_EXCEPTION) != 0 || !IsFinite(sum)) {
    return Status(Code::kOverflow, StrCat(TextOf(a), " + ", TextOf(b), " has more than 34 digits"));
  }
  return Canonical(sum);
}

bson_decimal128_t Canonical(const bson_decimal128_t& value) {
  if (bid128_isZero(In(value)) != 0) return Zero();
  // A coefficient of 34 digits has at most 113 bits, so the exponent is always in the same place.
  Coefficient coefficient = static_cast<Coefficient>(value.high & kCoefficientBits) << 64 | value.low;
  int exponent = static_cast<int>((value.high & ~kSignBit) >> kExponentShift) - kExponentBias;
  for (; exponent < 0 && coefficient % 10 == 0; ++exponent) coefficient /= 10;
  for (; exponent > 0 && coefficient < LargestWithRoom(); --exponent) coefficient *= 10;
  bson_decimal128_t canonical;
  canonical.low = static_cast<uint64_t>(coefficient);
  canonical.high = (value.high & kSignBit) | static_cast<uint64_t>(exponent + kExponentBias) << kExponentShift |
                   static_cast<uint64_t>(coefficient >> 64);
  return canonical;
}

std::string TextOf(const bson_decimal128_t& value) {
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&value, text);
  return text;
}

}  // namespace braid::settlement::views
