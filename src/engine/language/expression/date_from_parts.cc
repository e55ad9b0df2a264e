// $dateFromParts: from year, month, day, … or from isoWeekYear, isoWeek, isoDayOfWeek, …; numbers out of range are
// carried over.
#include "engine/language/expression/calendar.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/time_zone.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Value;

namespace {

enum Field { kYear, kMonth, kDay, kIsoYear, kIsoWeek, kIsoDay, kHour, kMinute, kSecond, kMillisecond, kZone };
constexpr NamedOperand kFields[] = {{"year"}, {"month"},  {"day"},    {"isoWeekYear"}, {"isoWeek"}, {"isoDayOfWeek"},
                                    {"hour"}, {"minute"}, {"second"}, {"millisecond"}, {"timezone"}};
constexpr NamedOperands kSignature = {40519, 40518, kFields};

/// The part; nullopt if it is null. A part that is not given is `otherwise`.
Result<std::optional<int64_t>> PartOf(const Call& call, Field field, int64_t otherwise) {
  if (!call.Has(field)) return std::optional<int64_t>(otherwise);
  const Value& value = call[field];
  if (value.IsNullish()) return std::optional<int64_t>();
  const std::optional<int32_t> exact = ExactInt32(value);
  const std::string_view name = kFields[field].name;
  if (!exact) return CallError(40515, "'", name, "' must evaluate to an integer, found ", TypeOf(value));
  if (field == kYear && (*exact < 1 || *exact > 9999)) {
    return CallError(40523, "'year' must evaluate to an integer in the range 1 to 9999, found ", *exact);
  }
  if (field == kIsoYear && (*exact < 1 || *exact > 9999)) {
    return CallError(31095, "'isoWeekYear' must evaluate to an integer in the range 1 to 9999, found ", *exact);
  }
  const bool wide = field == kSecond || field == kMillisecond;
  if (!wide && (*exact < -32768 || *exact > 32767)) {
    return CallError(31034, "'", name, "' must evaluate to a value in the range [-32768, 32767]; value ", *exact,
                     " is not in range");
  }
  return std::optional<int64_t>(*exact);
}

Result<Value> DateFromParts(const Call& call) {
  const bool iso = call.Has(kIsoYear);
  if (call.Has(kZone) && call[kZone].IsNullish()) return call.arena().Null();
  BRAID_TRY(TimeZone zone, ZoneOperand(call, kZone));
  int64_t parts[7];
  const Field fields[7] = {
      iso ? kIsoYear : kYear, iso ? kIsoWeek : kMonth, iso ? kIsoDay : kDay, kHour, kMinute, kSecond, kMillisecond};
  for (int i = 0; i < 7; ++i) {
    BRAID_TRY(std::optional<int64_t> part, PartOf(call, fields[i], i < 3 ? 1 : 0));
    if (!part) return call.arena().Null();
    parts[i] = *part;
  }
  CalendarTime time{1970, 1, 1, parts[3], parts[4], parts[5], parts[6]};
  const int64_t days = iso ? DaysOfIsoWeek({parts[0], parts[1], parts[2]}) : DaysOf(parts[0], parts[1], parts[2]);
  return call.arena().DateMillis(zone.ToUtc(days * kMillisPerDay + MillisOf(time)));
}

constexpr Operator kDateFromParts = {.name = "$dateFromParts", .function = DateFromParts, .named = &kSignature};

}  // namespace

Result<ExpressionPtr> ParseDateFromParts(std::string_view name, const Value& operand, ParseContext& context) {
  BRAID_TRY(auto operands, ParseNamedOperands(name, kSignature, operand, context));
  const bool natural = operands[kYear] || operands[kMonth] || operands[kDay];
  const bool iso = operands[kIsoYear] || operands[kIsoWeek] || operands[kIsoDay];
  if (!operands[kYear] && !operands[kIsoYear]) {
    return CallError(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present");
  }
  if (natural && iso) return CallError(40489, "$dateFromParts does not allow mixing natural dates with ISO dates");
  return MakeCall(kDateFromParts, std::move(operands), context);
}

}  // namespace braid::query::functions
