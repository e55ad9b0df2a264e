// $sin, $cos, $tan, their inverses and hyperbolic variants, $atan2, $degreesToRadians, $radiansToDegrees.
#include <cmath>
#include <numbers>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Decimal128;
using bson::Number;
using bson::Value;
namespace decimal = bson::decimal;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The domain of a function; NaN is accepted everywhere.
struct Bounds {
  double low = -kInfinity;
  double high = kInfinity;
  bool open = false;  // the ends themselves are outside
  bool Holds(const Number& number) const {
    if (number.IsNaN()) return true;
    const Decimal128 value = number.ToDecimal();
    const int below = number.IsDecimal() ? decimal::CompareDouble(value, low) : Order(number.ToDouble(), low);
    const int above = number.IsDecimal() ? decimal::CompareDouble(value, high) : Order(number.ToDouble(), high);
    return open ? below > 0 && above < 0 : below >= 0 && above <= 0;
  }
  static int Order(double a, double b) { return (a > b) - (a < b); }
};

constexpr Bounds kAll = {};
constexpr Bounds kFinite = {.open = true};
constexpr Bounds kUnit = {-1, 1};

template <typename OfDouble, typename OfDecimal>
Result<Value> Apply(const Call& call, const Bounds& bounds, OfDouble of_double, OfDecimal of_decimal) {
  const Value& arg = call[0];
  if (arg.IsNullish()) return call.arena().Null();
  if (!arg.IsNumber()) return CallError(28765, call.name, " only supports numeric types, not ", TypeOf(arg));
  const Number number = Number::Of(arg);
  if (!bounds.Holds(number)) {
    return CallError(50989, "cannot apply ", call.name, " to ", number.ToDouble(), ", value must be in ",
                     bounds.open ? "(" : "[", bounds.low, ",", bounds.high, bounds.open ? ")" : "]");
  }
  if (number.IsDecimal()) return call.arena().Decimal(of_decimal(number.ToDecimal()));
  return call.arena().Double(of_double(number.ToDouble()));
}

Decimal128 Pi() { return *decimal::FromString("3.141592653589793238462643383279503"); }
Decimal128 HalfTurn() { return decimal::FromInt64(180); }

}  // namespace

Result<Value> Sin(const Call& c) {
  return Apply(
      c, kFinite, [](double v) { return std::sin(v); }, decimal::Sin);
}
Result<Value> Cos(const Call& c) {
  return Apply(
      c, kFinite, [](double v) { return std::cos(v); }, decimal::Cos);
}
Result<Value> Tan(const Call& c) {
  return Apply(
      c, kFinite, [](double v) { return std::tan(v); }, decimal::Tan);
}
Result<Value> Asin(const Call& c) {
  return Apply(
      c, kUnit, [](double v) { return std::asin(v); }, decimal::Asin);
}
Result<Value> Acos(const Call& c) {
  return Apply(
      c, kUnit, [](double v) { return std::acos(v); }, decimal::Acos);
}
Result<Value> Atan(const Call& c) {
  return Apply(
      c, kAll, [](double v) { return std::atan(v); }, decimal::Atan);
}
Result<Value> Sinh(const Call& c) {
  return Apply(
      c, kAll, [](double v) { return std::sinh(v); }, decimal::Sinh);
}
Result<Value> Cosh(const Call& c) {
  return Apply(
      c, kAll, [](double v) { return std::cosh(v); }, decimal::Cosh);
}
Result<Value> Tanh(const Call& c) {
  return Apply(
      c, kAll, [](double v) { return std::tanh(v); }, decimal::Tanh);
}
Result<Value> Asinh(const Call& c) {
  return Apply(
      c, kAll, [](double v) { return std::asinh(v); }, decimal::Asinh);
}
Result<Value> Acosh(const Call& c) {
  return Apply(
      c, {.low = 1}, [](double v) { return std::acosh(v); }, decimal::Acosh);
}
Result<Value> Atanh(const Call& c) {
  return Apply(
      c, kUnit, [](double v) { return std::atanh(v); }, decimal::Atanh);
}

Result<Value> DegreesToRadians(const Call& call) {
  return Apply(
      call, kAll, [](double v) { return v * (std::numbers::pi / 180.0); },
      [](Decimal128 v) { return decimal::Multiply(v, decimal::Divide(Pi(), HalfTurn())); });
}

Result<Value> RadiansToDegrees(const Call& call) {
  return Apply(
      call, kAll, [](double v) { return v * (180.0 / std::numbers::pi); },
      [](Decimal128 v) { return decimal::Multiply(v, decimal::Divide(HalfTurn(), Pi())); });
}

Result<Value> Atan2(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].IsNumber()) return CallError(51044, "$atan2 only supports numeric types, not ", TypeOf(call[0]));
  if (call[1].IsNullish()) return call.arena().Null();
  if (!call[1].IsNumber()) return CallError(51045, "$atan2 only supports numeric types, not ", TypeOf(call[1]));
  const Number y = Number::Of(call[0]);
  const Number x = Number::Of(call[1]);
  if (y.IsDecimal() || x.IsDecimal()) return call.arena().Decimal(decimal::Atan2(y.ToDecimal(), x.ToDecimal()));
  return call.arena().Double(std::atan2(y.ToDouble(), x.ToDouble()));
}

}  // namespace braid::query::functions
