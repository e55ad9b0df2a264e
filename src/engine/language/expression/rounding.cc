// $round (half to even) and $trunc, to a number of decimal places between -20 and 100.
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/summation.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Number;
using bson::Type;
using bson::Value;
namespace decimal = bson::decimal;

namespace {

Result<int> PlacesOf(const Call& call) {
  const Value& arg = call[1];
  if (!arg.IsNumber()) return CallError(16004, "can't convert from BSON type ", TypeOf(arg), " to long");
  const Number number = Number::Of(arg);
  if (number.type() == Type::kDouble && !(std::abs(number.ToDouble()) < 0x1p63)) {
    return CallError(31109, "Can't coerce out of range value ", number.ToDouble(), " to long");
  }
  const std::optional<int32_t> places = ExactInt32(arg);
  if (!places) return CallError(51082, "precision argument to ", call.name, " must be a integral value");
  if (*places < -20 || *places > 100) {
    return CallError(51083, "cannot apply ", call.name, " with precision value ", *places,
                     " value must be in [-20, 100]");
  }
  return *places;
}

Result<Value> RoundTo(const Call& call, decimal::Rounding rounding) {
  const Value& arg = call[0];
  if (arg.IsNullish()) return call.arena().Null();
  if (!arg.IsNumber()) return CallError(51081, call.name, " only supports numeric types, not ", TypeOf(arg));
  int places = 0;
  if (call.size() > 1) {
    if (call[1].IsNullish()) return call.arena().Null();
    BRAID_TRY(places, PlacesOf(call));
  }
  const Number number = Number::Of(arg);
  if (number.IsDecimal()) {
    const bson::Decimal128 value = number.ToDecimal();
    if (decimal::IsNaN(value) || decimal::IsInfinite(value)) return arg;
    return call.arena().Decimal(decimal::Round(value, places, rounding));
  }
  if (number.type() == Type::kDouble) {
    const double value = number.ToDouble();
    if (!std::isfinite(value)) return arg;
    if (places == 0) {
      return call.arena().Double(rounding == decimal::Rounding::kTowardZero ? std::trunc(value)
                                                                            : std::nearbyint(value));
    }
    // Exactly, in decimal: multiplying by a power of ten would round once more.
    return call.arena().Double(decimal::ToDouble(decimal::Round(ExactDecimal(value), places, rounding)));
  }
  if (places >= 0) return arg;
  const bson::Decimal128 rounded = decimal::Round(number.ToDecimal(), places, rounding);
  const std::optional<int64_t> integer = decimal::ToInt64Exact(rounded);
  if (!integer)
    return CallError(51080, "invalid conversion from Decimal128 result in ", call.name, " resulting from arguments: [",
                     number.AsInteger(), ", ", places, "]");
  const bool narrow =
      *integer >= std::numeric_limits<int32_t>::min() && *integer <= std::numeric_limits<int32_t>::max();
  return arg.Is(Type::kInt32) && narrow ? call.arena().Int32(static_cast<int32_t>(*integer))
                                        : call.arena().Int64(*integer);
}

}  // namespace

Result<Value> Round(const Call& call) { return RoundTo(call, decimal::Rounding::kHalfEven); }
Result<Value> Trunc(const Call& call) { return RoundTo(call, decimal::Rounding::kTowardZero); }

}  // namespace braid::query::functions
