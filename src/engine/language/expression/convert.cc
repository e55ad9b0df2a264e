// $convert and its short forms: $toBool, $toDate, $toDecimal, $toDouble, $toInt, $toLong, $toObjectId, $toString.
// ConvertTo has one function per target type; each knows the source types that it accepts.
#include <charconv>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"
#include "engine/language/expression/date_format.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/text.h"
#include "engine/language/expression/time_zone.h"
#include "engine/language/expression/values.h"

namespace braid::query {

using bson::Number;
using bson::Type;
using bson::Value;
namespace decimal = bson::decimal;

namespace {

Status Unsupported(const Value& value, Type target) {
  return {Code::kConversionFailure, StrCat("Unsupported conversion from ", bson::TypeName(value.type()), " to ",
                                           bson::TypeName(target), " in $convert with no onError value")};
}

Status Failed(std::string_view why) {
  return {Code::kConversionFailure, StrCat(why, " in $convert with no onError value")};
}

Status BadText(std::string_view text, std::string_view why) {
  return Failed(StrCat("Failed to parse number '", text, "': ", why));
}

template <typename T>
Result<T> IntegerOfText(std::string_view text) {
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  T result{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error == std::errc::result_out_of_range) return BadText(text, "Overflow");
  const bool doubly_signed = text.starts_with('+') && digits.starts_with('-');
  if (error != std::errc() || end != digits.data() + digits.size() || doubly_signed) return BadText(text, "Bad digit");
  return result;
}

Result<double> DoubleOfText(std::string_view text) {
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  double result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  const bool doubly_signed = text.starts_with('+') && digits.starts_with('-');
  if (error == std::errc::result_out_of_range) return BadText(text, "Out of range");
  if (error != std::errc() || end != digits.data() + digits.size() || doubly_signed)
    return BadText(text, "Did not consume whole string.");
  return result;
}

/// The number cut to an integer; an error if it has none or does not fit between the limits.
Result<int64_t> CutToInteger(const Number& number, int64_t low, int64_t high) {
  std::optional<int64_t> cut;
  if (number.IsInteger()) {
    cut = number.AsInteger();
  } else if (number.IsDecimal()) {
    const bson::Decimal128 value = number.ToDecimal();
    if (decimal::IsNaN(value)) return Failed("Attempt to convert NaN value to integer type");
    if (decimal::IsInfinite(value)) return Failed("Attempt to convert infinity value to integer type");
    cut = decimal::ToInt64(value, decimal::Rounding::kTowardZero);
  } else {
    const double value = number.ToDouble();
    if (std::isnan(value)) return Failed("Attempt to convert NaN value to integer type");
    if (std::isinf(value)) return Failed("Attempt to convert infinity value to integer type");
    if (value >= -9223372036854775808.0 && value < 9223372036854775808.0) cut = static_cast<int64_t>(value);
  }
  if (!cut || *cut < low || *cut > high) return Failed("Conversion would overflow target type");
  return *cut;
}

Result<Value> ToInt32(const Value& value, bson::Arena& arena) {
  if (value.Is(Type::kInt32)) return value;
  if (value.Is(Type::kBool)) return arena.Int32(value.AsBool() ? 1 : 0);
  if (value.Is(Type::kString)) {
    BRAID_TRY(int32_t parsed, IntegerOfText<int32_t>(value.AsString()));
    return arena.Int32(parsed);
  }
  if (!value.IsNumber()) return Unsupported(value, Type::kInt32);
  using Limits = std::numeric_limits<int32_t>;
  BRAID_TRY(int64_t cut, CutToInteger(Number::Of(value), Limits::min(), Limits::max()));
  return arena.Int32(static_cast<int32_t>(cut));
}

Result<Value> ToInt64(const Value& value, bson::Arena& arena) {
  if (value.Is(Type::kInt64)) return value;
  if (value.Is(Type::kBool)) return arena.Int64(value.AsBool() ? 1 : 0);
  if (value.Is(Type::kDate)) return arena.Int64(value.AsDate());
  if (value.Is(Type::kString)) {
    BRAID_TRY(int64_t parsed, IntegerOfText<int64_t>(value.AsString()));
    return arena.Int64(parsed);
  }
  if (!value.IsNumber()) return Unsupported(value, Type::kInt64);
  using Limits = std::numeric_limits<int64_t>;
  BRAID_TRY(int64_t cut, CutToInteger(Number::Of(value), Limits::min(), Limits::max()));
  return arena.Int64(cut);
}

Result<Value> ConvertToDouble(const Value& value, bson::Arena& arena) {
  if (value.Is(Type::kDouble)) return value;
  if (value.Is(Type::kBool)) return arena.Double(value.AsBool() ? 1 : 0);
  if (value.Is(Type::kDate)) return arena.Double(static_cast<double>(value.AsDate()));
  if (value.Is(Type::kString)) {
    BRAID_TRY(double parsed, DoubleOfText(value.AsString()));
    return arena.Double(parsed);
  }
  if (!value.IsNumber()) return Unsupported(value, Type::kDouble);
  const double result = Number::Of(value).ToDouble();
  if (value.Is(Type::kDecimal128) && std::isinf(result) && !decimal::IsInfinite(value.AsDecimal())) {
    return Failed("Conversion would overflow target type");
  }
  return arena.Double(result);
}

Result<Value> ConvertToDecimal(const Value& value, bson::Arena& arena) {
  if (value.Is(Type::kDecimal128)) return value;
  if (value.Is(Type::kBool)) return arena.Decimal(decimal::FromInt64(value.AsBool() ? 1 : 0));
  if (value.Is(Type::kDate)) return arena.Decimal(decimal::FromInt64(value.AsDate()));
  if (value.Is(Type::kString)) {
    const std::optional<bson::Decimal128> parsed = decimal::FromString(value.AsString());
    if (!parsed) return BadText(value.AsString(), "Failed to parse string to decimal");
    return arena.Decimal(*parsed);
  }
  if (!value.IsNumber()) return Unsupported(value, Type::kDecimal128);
  return arena.Decimal(Number::Of(value).ToDecimal());
}

Result<Value> ConvertToDate(const Value& value, bson::Arena& arena) {
  if (IsDateLike(value)) {
    BRAID_TRY(int64_t millis, DateOf(value));
    return arena.DateMillis(millis);
  }
  if (value.Is(Type::kString)) {
    BRAID_TRY(int64_t millis, ParseDate(value.AsString(), std::nullopt));
    return arena.DateMillis(millis);
  }
  if (!value.IsNumber() || value.Is(Type::kInt32)) return Unsupported(value, Type::kDate);
  using Limits = std::numeric_limits<int64_t>;
  BRAID_TRY(int64_t millis, CutToInteger(Number::Of(value), Limits::min(), Limits::max()));
  return arena.DateMillis(millis);
}

Result<Value> ConvertToObjectId(const Value& value, bson::Arena& arena) {
  if (value.Is(Type::kObjectId)) return value;
  if (!value.Is(Type::kString)) return Unsupported(value, Type::kObjectId);
  const std::string_view text = value.AsString();
  char bytes[12];
  bool ok = text.size() == 24;
  for (size_t i = 0; i < 12 && ok; ++i) {
    unsigned byte = 0;
    ok = std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, byte, 16).ptr == text.data() + 2 * i + 2;
    bytes[i] = static_cast<char>(byte);
  }
  if (!ok) return Failed(StrCat("Failed to parse objectId '", text, "': it needs 24 hexadecimal digits"));
  return arena.ObjectIdBytes({bytes, 12});
}

Result<Value> ToText(const Value& value, bson::Arena& arena) {
  switch (value.type()) {
    case Type::kString: return value;
    case Type::kBool: return arena.String(value.AsBool() ? "true" : "false");
    case Type::kInt32: return arena.String(StrCat(value.AsInt32()));
    case Type::kInt64: return arena.String(StrCat(value.AsInt64()));
    case Type::kDouble: return arena.String(DoubleText(value.AsDouble()));
    case Type::kDecimal128: return arena.String(decimal::ToString(value.AsDecimal()));
    case Type::kObjectId: return arena.String(Hex(value.AsObjectId()));
    case Type::kDate: {
      BRAID_TRY(std::string text, FormatDate(value.AsDate(), kIsoFormatUtc, TimeZone()));
      return arena.String(text);
    }
    default: return Unsupported(value, Type::kString);
  }
}

/// kConversionFailure if there is no such conversion or the value does not allow it. `value` is not null.
Result<Value> ConvertTo(Type target, const Value& value, bson::Arena& arena) {
  switch (target) {
    case Type::kInt32: return ToInt32(value, arena);
    case Type::kInt64: return ToInt64(value, arena);
    case Type::kDouble: return ConvertToDouble(value, arena);
    case Type::kDecimal128: return ConvertToDecimal(value, arena);
    case Type::kDate: return ConvertToDate(value, arena);
    case Type::kObjectId: return ConvertToObjectId(value, arena);
    case Type::kString: return ToText(value, arena);
    case Type::kBool: return arena.Bool(value.IsNumber() || value.Is(Type::kBool) ? bson::IsTruthy(value) : true);
    default: return Unsupported(value, target);
  }
}

}  // namespace
}  // namespace braid::query

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

constexpr int kFailed = static_cast<int>(Code::kFailedToParse);
constexpr NamedOperand kConvert[] = {
    {"input", kFailed}, {"to", kFailed}, {"onError", 0, /*lazy=*/true}, {"onNull", 0, /*lazy=*/true}};

constexpr Type kTypes[] = {Type::kDouble,    Type::kString,    Type::kObject, Type::kArray,      Type::kBinary,
                           Type::kUndefined, Type::kObjectId,  Type::kBool,   Type::kDate,       Type::kNull,
                           Type::kRegex,     Type::kDbPointer, Type::kCode,   Type::kSymbol,     Type::kCodeWScope,
                           Type::kInt32,     Type::kTimestamp, Type::kInt64,  Type::kDecimal128, Type::kMinKey,
                           Type::kMaxKey};

/// By alias ("int") or by number (16).
Result<Type> TargetOf(const Value& to) {
  if (to.Is(Type::kString)) {
    for (Type type : kTypes) {
      if (bson::TypeName(type) == to.AsString()) return type;
    }
    return Status(Code::kBadValue, StrCat("Unknown type name: ", to.AsString()));
  }
  if (!to.IsNumber()) {
    return Status(Code::kFailedToParse,
                  StrCat("$convert's 'to' argument must be a string or number, but is ", TypeOf(to)));
  }
  const std::optional<int32_t> number = ExactInt32(to);
  if (!number) return Status(Code::kFailedToParse, "In $convert, numeric 'to' argument is not an integer");
  for (Type type : kTypes) {
    if (static_cast<int>(type) == *number || (type == Type::kMinKey && *number == -1)) return type;
  }
  return Status(Code::kFailedToParse,
                StrCat("In $convert, numeric value for 'to' does not correspond to a BSON type: ", *number));
}

Result<Value> Short(const Call& call, Type target) {
  if (call[0].IsNullish()) return call.arena().Null();
  return ConvertTo(target, call[0], call.arena());
}

}  // namespace

const NamedOperands kConvertOperands = {kFailed, kFailed, kConvert};

Result<Value> Convert(const Call& call) {
  if (call[0].IsNullish()) {
    if (!call[1].IsNullish()) BRAID_CHECK_OK(TargetOf(call[1]));
    return call.Has(3) ? call.Force(3) : Result<Value>(call.arena().Null());
  }
  if (call[1].IsNullish()) return call.arena().Null();
  BRAID_TRY(Type target, TargetOf(call[1]));
  Result<Value> converted = ConvertTo(target, call[0], call.arena());
  if (!converted.ok() && call.Has(2)) return call.Force(2);
  return converted;
}

Result<Value> ToBool(const Call& call) { return Short(call, Type::kBool); }
Result<Value> ToDate(const Call& call) { return Short(call, Type::kDate); }
Result<Value> ToDecimal(const Call& call) { return Short(call, Type::kDecimal128); }
Result<Value> ToDouble(const Call& call) { return Short(call, Type::kDouble); }
Result<Value> ToInt(const Call& call) { return Short(call, Type::kInt32); }
Result<Value> ToLong(const Call& call) { return Short(call, Type::kInt64); }
Result<Value> ToObjectId(const Call& call) { return Short(call, Type::kObjectId); }
Result<Value> ToString(const Call& call) { return Short(call, Type::kString); }

}  // namespace braid::query::functions
