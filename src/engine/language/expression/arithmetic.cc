// $add, $subtract, $multiply, $divide, $mod, $abs, $ceil, $floor.
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

/// Whole milliseconds: doubles are rounded half away from zero, decimals half to even.
Result<int64_t> MillisOf(const Number& number) {
  std::optional<int64_t> millis;
  if (number.IsDecimal()) {
    millis = decimal::ToInt64(number.ToDecimal(), decimal::Rounding::kHalfEven);
  } else if (number.IsInteger()) {
    millis = number.AsInteger();
  } else if (constexpr double kEnd = 9223372036854775808.0; std::abs(number.ToDouble()) < kEnd) {
    millis = std::llround(number.ToDouble());
  }
  if (!millis) return Status(Code::kOverflow, "date overflow");
  return *millis;
}

Result<int64_t> AddMillis(int64_t millis, const Number& number) {
  BRAID_TRY(const int64_t more, MillisOf(number));
  int64_t sum = 0;
  if (__builtin_add_overflow(millis, more, &sum)) return Status(Code::kOverflow, "date overflow");
  return sum;
}

}  // namespace

Result<Value> Add(const Call& call) {
  Summation sum;
  std::optional<int64_t> date;  // with the numbers so far, each behind it rounded on its own
  for (const Value& arg : call.args) {
    if (arg.IsNumber()) {
      sum.Add(Number::Of(arg));
      if (date && sum.type() != Type::kDecimal128) {
        BRAID_TRY(date, AddMillis(*date, Number::Of(arg)));
      }
    } else if (arg.Is(Type::kDate)) {
      if (date) return CallError(16612, "only one date allowed in an $add expression");
      date = arg.AsDate();
      if (sum.type() != Type::kDecimal128) {
        BRAID_TRY(date, AddMillis(*date, Number::Of(sum.ToValue(call.arena()))));
      }
      sum.Add(Number(arg.AsDate()));
    } else if (arg.IsNullish()) {
      return call.arena().Null();
    } else {
      return CallError(16554, "$add only supports numeric or date types, not ", TypeOf(arg));
    }
  }
  if (!date) return sum.ToValue(call.arena());
  if (sum.type() == Type::kDecimal128) {  // with a decimal among them the whole sum is rounded
    BRAID_TRY(date, MillisOf(Number::Of(sum.ToValue(call.arena()))));
  }
  return call.arena().DateMillis(*date);
}

Result<Value> Subtract(const Call& call) {
  const Value& left = call[0];
  const Value& right = call[1];
  if (call.AnyNullish()) return call.arena().Null();
  if (left.Is(Type::kDate)) {
    int64_t result = 0;
    if (right.Is(Type::kDate)) {
      if (__builtin_sub_overflow(left.AsDate(), right.AsDate(), &result)) {
        return Status(Code::kOverflow, "date overflow in $subtract");
      }
      return call.arena().Int64(result);
    }
    if (!right.IsNumber()) return CallError(16613, "can't $subtract ", TypeOf(right), " from Date");
    BRAID_TRY(const int64_t millis, MillisOf(Number::Of(right)));
    if (__builtin_sub_overflow(left.AsDate(), millis, &result)) return Status(Code::kOverflow, "date overflow");
    return call.arena().DateMillis(result);
  }
  if (!left.IsNumber() || !right.IsNumber()) {
    return CallError(16556, "can't $subtract ", TypeOf(right), " from ", TypeOf(left));
  }
  BRAID_TRY(Number result, Number::Subtract(Number::Of(left), Number::Of(right), Number::Overflow::kDouble));
  return result.ToValue(call.arena());
}

Result<Value> Multiply(const Call& call) {
  Number product(int32_t{1});
  for (const Value& arg : call.args) {
    if (arg.IsNullish()) return call.arena().Null();
    if (!arg.IsNumber()) return CallError(16555, "$multiply only supports numeric types, not ", TypeOf(arg));
    BRAID_TRY(product, Number::Multiply(product, Number::Of(arg), Number::Overflow::kDouble));
  }
  return product.ToValue(call.arena());
}

Result<Value> Divide(const Call& call) {
  if (call[0].IsNumber() && call[1].IsNumber()) {
    const Number left = Number::Of(call[0]);
    const Number right = Number::Of(call[1]);
    if (left.IsDecimal() || right.IsDecimal()) {
      const bson::Decimal128 divisor = right.ToDecimal();
      if (decimal::IsZero(divisor)) return CallError(16608, "can't $divide by zero");
      return call.arena().Decimal(decimal::Divide(left.ToDecimal(), divisor));
    }
    if (right.ToDouble() == 0) return CallError(16608, "can't $divide by zero");
    return call.arena().Double(left.ToDouble() / right.ToDouble());
  }
  if (call.AnyNullish()) return call.arena().Null();
  return CallError(16609, "$divide only supports numeric types, not ", TypeOf(call[0]), " and ", TypeOf(call[1]));
}

Result<Value> Mod(const Call& call) {
  if (!call[0].IsNumber() || !call[1].IsNumber()) {
    if (call.AnyNullish()) return call.arena().Null();
    return CallError(16611, "$mod only supports numeric types, not ", TypeOf(call[0]), " and ", TypeOf(call[1]));
  }
  const Number left = Number::Of(call[0]);
  const Number right = Number::Of(call[1]);
  if (left.IsDecimal() || right.IsDecimal()) {
    if (decimal::IsZero(right.ToDecimal())) return CallError(16610, "can't $mod by zero");
    return call.arena().Decimal(decimal::Mod(left.ToDecimal(), right.ToDecimal()));
  }
  if (right.ToDouble() == 0) return CallError(16610, "can't $mod by zero");
  if (!left.IsInteger() || !right.IsInteger()) {
    return call.arena().Double(std::fmod(left.ToDouble(), right.ToDouble()));
  }
  const int64_t result = right.AsInteger() == -1 ? 0 : left.AsInteger() % right.AsInteger();  // min % -1 traps
  if (left.type() == Type::kInt32 && right.type() == Type::kInt32) {
    return call.arena().Int32(static_cast<int32_t>(result));
  }
  return call.arena().Int64(result);
}

namespace {

template <typename OfDouble, typename OfDecimal>
Result<Value> RoundOne(const Call& call, OfDouble of_double, OfDecimal of_decimal) {
  const Value& arg = call[0];
  switch (arg.type()) {
    case Type::kDouble: return call.arena().Double(of_double(arg.AsDouble()));
    case Type::kDecimal128: return call.arena().Decimal(of_decimal(arg.AsDecimal()));
    case Type::kInt32:
    case Type::kInt64: return arg;
    default: break;
  }
  if (arg.IsNullish()) return call.arena().Null();
  return CallError(28765, call.name, " only supports numeric types, not ", TypeOf(arg));
}

}  // namespace

Result<Value> Abs(const Call& call) {
  const Value& arg = call[0];
  if (arg.Is(Type::kInt32)) {
    const int64_t result = std::abs(static_cast<int64_t>(arg.AsInt32()));
    if (result > std::numeric_limits<int32_t>::max()) return call.arena().Int64(result);
    return call.arena().Int32(static_cast<int32_t>(result));
  }
  if (arg.Is(Type::kInt64)) {
    if (arg.AsInt64() == std::numeric_limits<int64_t>::min()) {
      return CallError(28680, "can't take $abs of long long min");
    }
    return call.arena().Int64(std::abs(arg.AsInt64()));
  }
  return RoundOne(
      call, [](double v) { return std::abs(v); }, decimal::Abs);
}

Result<Value> Ceil(const Call& call) {
  return RoundOne(
      call, [](double v) { return std::ceil(v); }, decimal::Ceil);
}

Result<Value> Floor(const Call& call) {
  return RoundOne(
      call, [](double v) { return std::floor(v); }, decimal::Floor);
}

}  // namespace braid::query::functions
