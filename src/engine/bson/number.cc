#include "engine/bson/number.h"

#include <cmath>
#include <limits>

#include "engine/bson/decimal.h"

namespace braid::bson {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

/// The three operations, each on integers with overflow noticed, on doubles and on decimals.
struct Plus {
  static bool Integers(int64_t a, int64_t b, int64_t* out) { return __builtin_add_overflow(a, b, out); }
  static double Doubles(double a, double b) { return a + b; }
  static Decimal128 Decimals(Decimal128 a, Decimal128 b) { return decimal::Add(a, b); }
};
struct Minus {
  static bool Integers(int64_t a, int64_t b, int64_t* out) { return __builtin_sub_overflow(a, b, out); }
  static double Doubles(double a, double b) { return a - b; }
  static Decimal128 Decimals(Decimal128 a, Decimal128 b) { return decimal::Subtract(a, b); }
};
struct Times {
  static bool Integers(int64_t a, int64_t b, int64_t* out) { return __builtin_mul_overflow(a, b, out); }
  static double Doubles(double a, double b) { return a * b; }
  static Decimal128 Decimals(Decimal128 a, Decimal128 b) { return decimal::Multiply(a, b); }
};

template <typename Operation>
Result<Number> Apply(const Number& a, const Number& b, Number::Overflow overflow) {
  if (a.IsDecimal() || b.IsDecimal()) return Number(Operation::Decimals(a.ToDecimal(), b.ToDecimal()));
  if (!a.IsInteger() || !b.IsInteger()) return Number(Operation::Doubles(a.ToDouble(), b.ToDouble()));
  int64_t result;
  if (Operation::Integers(a.AsInteger(), b.AsInteger(), &result)) {
    if (overflow == Number::Overflow::kDouble) return Number(Operation::Doubles(a.ToDouble(), b.ToDouble()));
    return Status(Code::kBadValue, "the result does not fit into a 64-bit integer");
  }
  const bool narrow = a.type() == Type::kInt32 && b.type() == Type::kInt32 &&
                      result >= std::numeric_limits<int32_t>::min() && result <= std::numeric_limits<int32_t>::max();
  return narrow ? Number(static_cast<int32_t>(result)) : Number(result);
}

}  // namespace

Number Number::Of(const Value& value) {
  switch (value.type()) {
    case Type::kInt32: return Number(value.AsInt32());
    case Type::kInt64: return Number(value.AsInt64());
    case Type::kDouble: return Number(value.AsDouble());
    default: return Number(value.AsDecimal());  // asserts the type
  }
}

std::optional<Number> NumberOf(const Value& value) {
  if (!value.IsNumber()) return std::nullopt;
  return Number::Of(value);
}

Type Number::type() const {
  static constexpr Type kTypes[] = {Type::kInt32, Type::kInt64, Type::kDouble, Type::kDecimal128};
  return kTypes[v_.index()];
}

bool Number::IsNaN() const {
  if (const double* v = std::get_if<double>(&v_)) return std::isnan(*v);
  if (const Decimal128* v = std::get_if<Decimal128>(&v_)) return decimal::IsNaN(*v);
  return false;
}

int64_t Number::AsInteger() const {
  BRAID_ASSERT(IsInteger());
  if (const int32_t* v = std::get_if<int32_t>(&v_)) return *v;
  return *std::get_if<int64_t>(&v_);
}

double Number::ToDouble() const {
  if (const double* v = std::get_if<double>(&v_)) return *v;
  if (const Decimal128* v = std::get_if<Decimal128>(&v_)) return decimal::ToDouble(*v);
  return static_cast<double>(AsInteger());
}

Decimal128 Number::ToDecimal() const {
  if (const Decimal128* v = std::get_if<Decimal128>(&v_)) return *v;
  if (const double* v = std::get_if<double>(&v_)) return decimal::FromDouble(*v);
  return decimal::FromInt64(AsInteger());
}

std::optional<int64_t> Number::ToInt64Exact() const {
  if (const Decimal128* v = std::get_if<Decimal128>(&v_)) return decimal::ToInt64Exact(*v);
  if (const double* v = std::get_if<double>(&v_)) {
    if (!(*v >= -kTwoTo63 && *v < kTwoTo63) || *v != std::trunc(*v)) return std::nullopt;
    return static_cast<int64_t>(*v);
  }
  return AsInteger();
}

int64_t Number::ToInt64Clamped() const {
  if (IsInteger()) return AsInteger();
  if (IsNaN()) return 0;
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  if (const Decimal128* v = std::get_if<Decimal128>(&v_)) {
    return decimal::ToInt64(*v, decimal::Rounding::kHalfEven).value_or(decimal::IsNegative(*v) ? kMin : kMax);
  }
  const double v = *std::get_if<double>(&v_);
  if (v >= kTwoTo63) return kMax;
  return v < -kTwoTo63 ? kMin : static_cast<int64_t>(v);
}

Result<Number> Number::Add(const Number& a, const Number& b, Overflow overflow) { return Apply<Plus>(a, b, overflow); }
Result<Number> Number::Subtract(const Number& a, const Number& b, Overflow overflow) {
  return Apply<Minus>(a, b, overflow);
}
Result<Number> Number::Multiply(const Number& a, const Number& b, Overflow overflow) {
  return Apply<Times>(a, b, overflow);
}

Value Number::ToValue(Arena& arena) const {
  switch (type()) {
    case Type::kInt32: return arena.Int32(*std::get_if<int32_t>(&v_));
    case Type::kInt64: return arena.Int64(*std::get_if<int64_t>(&v_));
    case Type::kDouble: return arena.Double(*std::get_if<double>(&v_));
    default: return arena.Decimal(*std::get_if<Decimal128>(&v_));
  }
}

bool IsTruthy(const Value& value) {
  switch (value.type()) {
    case Type::kMissing:
    case Type::kNull:
    case Type::kUndefined: return false;
    case Type::kBool: return value.AsBool();
    case Type::kInt32: return value.AsInt32() != 0;
    case Type::kInt64: return value.AsInt64() != 0;
    case Type::kDouble: return value.AsDouble() != 0;  // NaN is true
    case Type::kDecimal128: return !decimal::IsZero(value.AsDecimal());
    default: return true;
  }
}

}  // namespace braid::bson
