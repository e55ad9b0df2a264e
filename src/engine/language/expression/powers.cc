// $exp, $ln, $log, $log10, $pow, $sqrt: double, or decimal if an operand is; $pow of integers stays an integer while it
// fits.
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Decimal128;
using bson::Number;
using bson::Type;
using bson::Value;
namespace decimal = bson::decimal;

namespace {

/// A function of one number. `code` is the error for arguments below the domain (0, or above 0 if `positive`).
struct Domain {
  int code = 0;  // 0: all numbers
  bool positive = false;
};

template <typename OfDouble, typename OfDecimal>
Result<Value> Apply(const Call& call, Domain domain, OfDouble of_double, OfDecimal of_decimal) {
  const Value& arg = call[0];
  if (arg.IsNullish()) return call.arena().Null();
  if (!arg.IsNumber()) return CallError(28765, call.name, " only supports numeric types, not ", TypeOf(arg));
  const Number number = Number::Of(arg);
  if (domain.code != 0 && !number.IsNaN()) {
    const int sign = number.IsDecimal() ? decimal::Compare(number.ToDecimal(), decimal::FromInt64(0))
                                        : (number.ToDouble() > 0) - (number.ToDouble() < 0);
    if (sign < 0 || (domain.positive && sign == 0)) {
      return CallError(domain.code, call.name, "'s argument must be ",
                       domain.positive ? "a positive number" : "greater than or equal to 0");
    }
  }
  // A decimal NaN has no place in a domain and comes out as a double, as MongoDB shows it.
  if (number.IsDecimal() && !(number.IsNaN() && domain.positive)) {
    return call.arena().Decimal(of_decimal(number.ToDecimal()));
  }
  return call.arena().Double(of_double(number.ToDouble()));
}

/// base^exponent, exponent >= 0; nullopt if it does not fit.
std::optional<int64_t> IntegerPower(int64_t base, int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  if (exponent > 63) return std::nullopt;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

/// As MongoDB computes it: right for the bases 2 and 10; for any other the natural logarithm is divided by the base
/// itself. This is kept, so that a pipeline gives the same numbers as in MongoDB.
Decimal128 DecimalLog(Decimal128 a, Decimal128 base) {
  if (decimal::Compare(base, decimal::FromInt64(2)) == 0) return decimal::Log2(a);
  if (decimal::Compare(base, decimal::FromInt64(10)) == 0) return decimal::Log10(a);
  return decimal::Divide(decimal::Ln(a), base);
}

}  // namespace

Result<Value> Exp(const Call& call) {
  return Apply(
      call, {}, [](double v) { return std::exp(v); }, decimal::Exp);
}
Result<Value> Ln(const Call& call) {
  return Apply(
      call, {28766, true}, [](double v) { return std::log(v); }, decimal::Ln);
}
Result<Value> Log10(const Call& call) {
  return Apply(
      call, {28761, true}, [](double v) { return std::log10(v); }, decimal::Log10);
}
Result<Value> Sqrt(const Call& call) {
  return Apply(
      call, {28714, false}, [](double v) { return std::sqrt(v); }, decimal::Sqrt);
}

Result<Value> Log(const Call& call) {
  if (call.AnyNullish()) return call.arena().Null();
  if (!call[0].IsNumber()) return CallError(28756, "$log's argument must be numeric, not ", TypeOf(call[0]));
  if (!call[1].IsNumber()) return CallError(28757, "$log's base must be numeric, not ", TypeOf(call[1]));
  const Number argument = Number::Of(call[0]);
  const Number base = Number::Of(call[1]);
  constexpr std::string_view kArgument = "$log's argument must be a positive number";
  constexpr std::string_view kBase = "$log's base must be a positive number not equal to 1";
  if (argument.IsDecimal() || base.IsDecimal()) {
    const Decimal128 a = argument.ToDecimal();
    const Decimal128 b = base.ToDecimal();
    const Decimal128 zero = decimal::FromInt64(0);
    if (!decimal::IsNaN(a) && decimal::Compare(a, zero) <= 0) return CallError(28758, kArgument);
    const bool one = decimal::Compare(b, decimal::FromInt64(1)) == 0;
    if (!decimal::IsNaN(b) && (decimal::Compare(b, zero) <= 0 || one)) return CallError(28759, kBase);
    if (decimal::IsNaN(a) || decimal::IsNaN(b)) return call.arena().Double(std::numeric_limits<double>::quiet_NaN());
    return call.arena().Decimal(DecimalLog(a, b));
  }
  const double a = argument.ToDouble();
  const double b = base.ToDouble();
  if (a <= 0) return CallError(28758, kArgument);
  if (b <= 0 || b == 1) return CallError(28759, kBase);
  return call.arena().Double(std::log(a) / std::log(b));
}

Result<Value> Pow(const Call& call) {
  if (call.AnyNullish()) return call.arena().Null();
  if (!call[0].IsNumber()) return CallError(28762, "$pow's base must be numeric, not ", TypeOf(call[0]));
  if (!call[1].IsNumber()) return CallError(28763, "$pow's exponent must be numeric, not ", TypeOf(call[1]));
  const Number base = Number::Of(call[0]);
  const Number exponent = Number::Of(call[1]);
  const bool of_zero = base.IsDecimal() ? decimal::IsZero(base.ToDecimal()) : base.ToDouble() == 0;
  if (of_zero && exponent.ToDouble() < 0) {
    return CallError(28764, "$pow cannot take a base of 0 and a negative exponent");
  }
  if (base.IsDecimal() || exponent.IsDecimal()) {
    return call.arena().Decimal(decimal::Pow(base.ToDecimal(), exponent.ToDecimal()));
  }
  const double as_double = std::pow(base.ToDouble(), exponent.ToDouble());
  if (!base.IsInteger() || !exponent.IsInteger()) return call.arena().Double(as_double);
  std::optional<int64_t> power;
  if (exponent.AsInteger() >= 0) {
    power = IntegerPower(base.AsInteger(), exponent.AsInteger());
  } else if (base.AsInteger() == 1 || base.AsInteger() == -1) {
    power = IntegerPower(base.AsInteger(), exponent.AsInteger() & 1);
  }
  if (!power) return call.arena().Double(as_double);
  const bool narrow = base.type() == Type::kInt32 && exponent.type() == Type::kInt32 &&
                      *power >= std::numeric_limits<int32_t>::min() && *power <= std::numeric_limits<int32_t>::max();
  return narrow ? call.arena().Int32(static_cast<int32_t>(*power)) : call.arena().Int64(*power);
}

}  // namespace braid::query::functions
