// Number: one of the four numeric types with the promotions MongoDB uses ($inc, $mul, $add, $sum, …).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "braid/status.h"
#include "engine/bson/arena.h"
#include "engine/bson/value.h"

namespace braid::bson {

/// int32 op int32 gives int32, widened to int64 when it overflows; int64 overflow is an error for $inc/$mul and a
/// double for expressions: the caller chooses. double with an integer gives double, decimal with anything decimal.
class Number {
 public:
  explicit Number(int32_t v) : v_(v) {}
  explicit Number(int64_t v) : v_(v) {}
  explicit Number(double v) : v_(v) {}
  explicit Number(Decimal128 v) : v_(v) {}
  /// The value must be a number.
  static Number Of(const Value& value);

  Type type() const;
  bool IsInteger() const { return type() == Type::kInt32 || type() == Type::kInt64; }
  bool IsDecimal() const { return type() == Type::kDecimal128; }
  bool IsNaN() const;
  int64_t AsInteger() const;  ///< int32 or int64 only
  double ToDouble() const;
  Decimal128 ToDecimal() const;
  /// The exact integer this number is, whatever its type; nullopt if it has a fraction, is NaN or does not fit.
  std::optional<int64_t> ToInt64Exact() const;
  /// Clamped, NaN 0; a double is truncated, a decimal rounded half-even, as MongoDB does.
  int64_t ToInt64Clamped() const;

  enum class Overflow { kError, kDouble };
  /// With kError: kBadValue on int64 overflow; with kDouble: the result becomes a double.
  static Result<Number> Add(const Number& a, const Number& b, Overflow overflow);
  static Result<Number> Multiply(const Number& a, const Number& b, Overflow overflow);
  static Result<Number> Subtract(const Number& a, const Number& b, Overflow overflow);

  Value ToValue(Arena& arena) const;

 private:
  std::variant<int32_t, int64_t, double, Decimal128> v_;
};

/// A number, or nothing if the value is of another type.
std::optional<Number> NumberOf(const Value& value);

/// Truth as expressions and projections see it: false, null, undefined, missing and 0 of any numeric type are false.
bool IsTruthy(const Value& value);

}  // namespace braid::bson
