// Knuth's two-sum: the error of each addition is itself a double and is added up apart.
#include "engine/language/expression/summation.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/assert.h"
#include "engine/bson/decimal.h"

namespace braid::query {

using bson::Decimal128;
using bson::Type;

Decimal128 ExactDecimal(double v) {
  if (std::isnan(v) || std::isinf(v)) return bson::decimal::FromDouble(v);
  std::string text = fmt::format("{:.33e}", v);
  const size_t exponent = text.find('e');
  const size_t last = text.find_last_not_of('0', exponent - 1);  // zeros at the end would become digits of the sum
  text.erase(text[last] == '.' ? last : last + 1, exponent - (text[last] == '.' ? last : last + 1));
  const std::optional<Decimal128> exact = bson::decimal::FromString(text);
  BRAID_ASSERT(exact.has_value());  // every finite double is within a decimal's range
  return *exact;
}

void Summation::AddDouble(double x) {
  plain_ += x;
  const double sum = sum_ + x;
  const double x_part = sum - sum_;
  const double lost = (sum_ - (sum - x_part)) + (x - x_part);
  sum_ = sum;
  lost_ += lost;
}

void Summation::Add(const bson::Number& number) {
  switch (number.type()) {
    case Type::kDecimal128:
      type_ = Type::kDecimal128;
      decimals_ = bson::decimal::Add(decimals_, number.ToDecimal());
      return;
    case Type::kDouble:
      if (type_ != Type::kDecimal128) type_ = Type::kDouble;
      AddDouble(number.ToDouble());
      return;
    default: break;
  }
  if (number.type() == Type::kInt64 && type_ == Type::kInt32) type_ = Type::kInt64;
  const int64_t integer = number.AsInteger();
  const int64_t low = integer & 0xffffffff;  // both halves are doubles without rounding
  AddDouble(static_cast<double>(integer - low));
  AddDouble(static_cast<double>(low));
}

double Summation::ToDouble() const {
  const double total = sum_ + lost_;
  return std::isnan(total) ? plain_ : total;
}

Decimal128 Summation::ToDecimal() const {
  const double total = sum_ + lost_;
  if (!std::isfinite(total)) return bson::decimal::Add(decimals_, bson::decimal::FromDouble(plain_));
  return bson::decimal::Add(decimals_, bson::decimal::Add(ExactDecimal(sum_), ExactDecimal(lost_)));
}

bool Summation::FitsInt64() const {
  constexpr double kLimit = 9223372036854775808.0;
  const double total = sum_ + lost_;
  if (!(total >= -kLimit && total <= kLimit)) return false;
  if (sum_ == kLimit) return lost_ < 0;
  if (sum_ == -kLimit) return lost_ >= 0;
  return total < kLimit;
}

int64_t Summation::ToInt64() const {
  BRAID_ASSERT(FitsInt64());
  if (sum_ == 9223372036854775808.0) {  // one past the largest, less what was lost
    return std::numeric_limits<int64_t>::max() + (static_cast<int64_t>(std::llround(lost_)) + 1);
  }
  return std::llround(sum_) + std::llround(lost_);
}

bson::Value Summation::ToValue(bson::Arena& arena) const {
  if (type_ == Type::kDecimal128) return arena.Decimal(ToDecimal());
  if (type_ == Type::kDouble || !FitsInt64()) return arena.Double(ToDouble());
  const int64_t total = ToInt64();
  const bool narrow = total >= std::numeric_limits<int32_t>::min() && total <= std::numeric_limits<int32_t>::max();
  return type_ == Type::kInt32 && narrow ? arena.Int32(static_cast<int32_t>(total)) : arena.Int64(total);
}

}  // namespace braid::query
