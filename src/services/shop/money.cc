// Decimal128 through Intel's library (arguments by value, rounding mode and flags passed): it tells whether a result
// was rounded, and it keeps the digits behind the point.
#include "services/shop/money.h"

#define DECIMAL_CALL_BY_REFERENCE 0
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/strings.h"
#include "services/shop/refusal.h"

namespace braid::shop {
namespace {

constexpr size_t kDigitsMax = 34;
constexpr size_t kShownDigitsMax = 60;

BID_UINT128 ToIntel(const Money& money) {
  BID_UINT128 out;
  out.w[0] = money.value().low;
  out.w[1] = money.value().high;
  return out;
}

Money FromIntel(const BID_UINT128& value) {
  bson_decimal128_t out;
  out.low = value.w[0];
  out.high = value.w[1];
  return Money(out);
}

bool IsMoneyDigit(char c) { return c >= '0' && c <= '9'; }

// Digits, then perhaps a point and digits.
bool IsPlainDecimal(std::string_view text) {
  const auto whole = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsMoneyDigit) - text.begin());
  if (whole == 0 || whole == text.size()) return whole != 0;
  const std::string_view fraction = text.substr(whole + 1);
  return text[whole] == '.' && !fraction.empty() && std::all_of(fraction.begin(), fraction.end(), IsMoneyDigit);
}

Result<Money> ExactOrRefused(const BID_UINT128& value, unsigned flags) {
  if ((flags & BID_INEXACT_EXCEPTION) != 0 || bid128_isFinite(value) == 0) {
    return Refuse(Refused::kInexactAmount, StrCat("the amount has more than ", kDigitsMax, " digits"));
  }
  return FromIntel(value);
}

// "-1.5E-7": the point goes where the exponent says.
std::string WithoutExponent(std::string_view text) {
  const size_t e = text.find('E');
  BRAID_ASSERT(e != std::string_view::npos);
  const std::string_view sign = text.starts_with('-') ? "-" : "";
  const std::string_view mantissa = text.substr(sign.size(), e - sign.size());
  std::string_view power = text.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits;
  std::copy_if(mantissa.begin(), mantissa.end(), std::back_inserter(digits), IsMoneyDigit);
  const int point = static_cast<int>(std::min(mantissa.find('.'), mantissa.size())) + exponent;
  const int size = static_cast<int>(digits.size());
  if (point <= 0) return StrCat(sign, "0.", std::string(static_cast<size_t>(-point), '0'), digits);
  if (point >= size) return StrCat(sign, digits, std::string(static_cast<size_t>(point - size), '0'));
  return StrCat(sign, digits.substr(0, static_cast<size_t>(point)), ".", digits.substr(static_cast<size_t>(point)));
}

}  // namespace

Money::Money() : Money(FromIntel(bid128_from_int64(0))) {}

Result<Money> Money::Parse(std::string_view text) {
  if (!IsPlainDecimal(text)) {
    return Refuse(Refused::kBadPrice, StrCat("'", text.substr(0, kShownDigitsMax),
                                             "' is not an amount: digits, and perhaps a point and digits, are"));
  }
  const auto digits = static_cast<size_t>(std::count_if(text.begin(), text.end(), IsMoneyDigit));
  bson_decimal128_t value;
  if (digits > kDigitsMax || !bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &value)) {
    return Refuse(Refused::kBadPrice, StrCat("an amount has ", kDigitsMax, " digits at most, not ", digits));
  }
  return Money(value);
}

Result<Money> Money::FromDocument(const bson_t* document, const char* path) {
  bson_iter_t start;
  bson_iter_t found;
  bson_decimal128_t value;
  if (!bson_iter_init(&start, document) || !bson_iter_find_descendant(&start, path, &found) ||
      !bson_iter_decimal128(&found, &value) || bid128_isFinite(ToIntel(Money(value))) == 0) {
    return Status(Code::kBadValue, StrCat("the stored field ", path, " is not a finite Decimal128"));
  }
  return Money(value);
}

Result<Money> Money::Plus(const Money& other) const {
  unsigned flags = 0;
  const BID_UINT128 sum = bid128_add(ToIntel(*this), ToIntel(other), BID_ROUNDING_TO_NEAREST, &flags);
  return ExactOrRefused(sum, flags);
}

Result<Money> Money::Times(int64_t count) const {
  unsigned flags = 0;
  const BID_UINT128 product = bid128_mul(ToIntel(*this), bid128_from_int64(count), BID_ROUNDING_TO_NEAREST, &flags);
  return ExactOrRefused(product, flags);
}

std::string Money::ToString() const {
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&value_, text);
  const std::string_view view(text);
  return view.find('E') == std::string_view::npos ? std::string(view) : WithoutExponent(view);
}

bool Money::operator==(const Money& other) const {
  unsigned flags = 0;
  return bid128_quiet_equal(ToIntel(*this), ToIntel(other), &flags) != 0;
}

bool Money::operator<(const Money& other) const {
  unsigned flags = 0;
  return bid128_quiet_less(ToIntel(*this), ToIntel(other), &flags) != 0;
}

}  // namespace braid::shop
