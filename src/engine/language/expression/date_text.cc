// $dateToString and $dateFromString.
#include "engine/language/expression/date_format.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/time_zone.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

constexpr NamedOperand kToString[] = {{"date", 18628}, {"format"}, {"timezone"}, {"onNull", 0, /*lazy=*/true}};
constexpr NamedOperand kFromString[] = {
    {"dateString", 40542}, {"format"}, {"timezone"}, {"onError", 0, /*lazy=*/true}, {"onNull", 0, /*lazy=*/true}};

Result<Value> OrNull(const Call& call, size_t i) {
  return call.Has(i) ? call.Force(i) : Result<Value>(call.arena().Null());
}

}  // namespace

const NamedOperands kDateToStringOperands = {18629, 18534, kToString};
const NamedOperands kDateFromStringOperands = {40540, 40541, kFromString};

Result<Value> DateToString(const Call& call) {
  std::string_view format;
  if (call.Has(1)) {
    if (call[1].IsNullish()) return call.arena().Null();
    if (!call[1].Is(Type::kString))
      return CallError(18533, "$dateToString requires that 'format' be a string, found: ", TypeOf(call[1]));
    format = call[1].AsString();
    BRAID_CHECK_OK(CheckDateFormat(format, /*parsing=*/false));
  }
  if (call.Has(2) && call[2].IsNullish()) return call.arena().Null();
  BRAID_TRY(TimeZone zone, ZoneOperand(call, 2));
  if (call[0].IsNullish()) return OrNull(call, 3);
  BRAID_TRY(int64_t millis, DateOf(call[0]));
  if (!call.Has(1)) format = zone.IsUtc() ? kIsoFormatUtc : kIsoFormatLocal;
  BRAID_TRY(std::string text, FormatDate(millis, format, zone));
  return call.arena().String(text);
}

Result<Value> DateFromString(const Call& call) {
  if (call.Has(1)) {
    if (call[1].IsNullish()) return call.arena().Null();
    if (!call[1].Is(Type::kString))
      return CallError(40684, "$dateFromString requires that 'format' be a string, found: ", TypeOf(call[1]));
    BRAID_CHECK_OK(CheckDateFormat(call[1].AsString(), /*parsing=*/true));
  }
  if (call.Has(2) && call[2].IsNullish()) return call.arena().Null();
  if (call[0].IsNullish()) return OrNull(call, 4);
  std::optional<TimeZone> zone;
  if (call.Has(2)) {
    BRAID_TRY(zone, TimeZone::Of(call[2]));
  }
  Result<int64_t> millis = Status(Code::kConversionFailure, "");
  if (!call[0].Is(Type::kString)) {
    millis = Status(Code::kConversionFailure,
                    StrCat("$dateFromString requires that 'dateString' be a string, found: ", TypeOf(call[0])));
  } else if (call.Has(1)) {
    millis = ParseDate(call[0].AsString(), call[1].AsString(), zone);
  } else {
    millis = ParseDate(call[0].AsString(), zone);
  }
  if (millis.ok()) return call.arena().DateMillis(*millis);
  if (call.Has(3)) return call.Force(3);
  return millis.error();
}

}  // namespace braid::query::functions
