// $convert and its short forms: $toBool, $toDate, $toDecimal, $toDouble, $toInt, $toLong, $toObjectId, $toString.
#include "engine/bson/number.h"
#include "engine/language/expression/conversion.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

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
