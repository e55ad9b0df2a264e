// $dateAdd, $dateSubtract, $dateDiff, $dateTrunc: in units of the calendar and in a time zone.
#include <algorithm>

#include "engine/bson/number.h"
#include "engine/language/expression/calendar.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/time_zone.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

enum class Span { kMillis, kDays, kMonths };
struct Unit {
  std::string_view name;
  Span span;
  int64_t size;  // in milliseconds, days or months
};
constexpr Unit kUnits[] = {
    {"day", Span::kDays, 1},           {"hour", Span::kMillis, kMillisPerHour},
    {"millisecond", Span::kMillis, 1}, {"minute", Span::kMillis, kMillisPerMinute},
    {"month", Span::kMonths, 1},       {"quarter", Span::kMonths, 3},
    {"second", Span::kMillis, 1000},   {"week", Span::kDays, 7},
    {"year", Span::kMonths, 12},
};

struct Codes {
  int not_string;
  int unknown;
};

Result<Unit> UnitOf(const Call& call, size_t i, Codes codes) {
  if (!call[i].Is(Type::kString)) {
    return CallError(codes.not_string, call.name, " requires 'unit' to be a string, but got ", TypeOf(call[i]));
  }
  const Unit* found = std::ranges::find(kUnits, call[i].AsString(), &Unit::name);
  if (found == std::end(kUnits)) {
    return CallError(codes.unknown, call.name,
                     " parameter 'unit' value cannot be recognized as a time unit: ", call[i].AsString());
  }
  return *found;
}

/// 0 Monday … 6 Sunday; Sunday if not given.
Result<int64_t> StartOfWeek(const Call& call, size_t i) {
  if (!call.Has(i)) return int64_t{6};
  constexpr std::string_view kDays[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
  if (!call[i].Is(Type::kString))
    return CallError(5439015, call.name, " requires 'startOfWeek' to be a string, but got ", TypeOf(call[i]));
  std::string name(call[i].AsString());
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  for (int64_t day = 0; day < 7; ++day) {
    if (name == kDays[day] || name == kDays[day].substr(0, 3)) return day;
  }
  return CallError(9, call.name,
                   " parameter 'startOfWeek' value cannot be recognized as a day of a week: ", call[i].AsString());
}

Result<int64_t> NeedDate(const Call& call, size_t i, int code) {
  if (!IsDateLike(call[i])) return CallError(code, call.name, " requires a date, found ", TypeOf(call[i]));
  return DateOf(call[i]);
}

int64_t MonthsOf(int64_t local) {
  const CalendarTime time = CalendarOf(local);
  return time.year * 12 + time.month - 1;
}

/// The same day and time `months` later, or the last day of that month if the day does not exist there.
int64_t AddMonths(int64_t local, int64_t months) {
  CalendarTime time = CalendarOf(local);
  const int64_t total = time.year * 12 + time.month - 1 + months;
  time.year = FloorDiv(total, 12);
  time.month = FloorMod(total, 12) + 1;
  time.day = std::min(time.day, DaysInMonth(time.year, time.month));
  return MillisOf(time);
}

Result<Value> Shift(const Call& call, int64_t sign) {
  for (size_t i = 0; i < 4; ++i) {
    if ((i < 3 || call.Has(i)) && call[i].IsNullish()) return call.arena().Null();
  }
  BRAID_TRY(int64_t date, NeedDate(call, 0, 5166403));
  BRAID_TRY(Unit unit, UnitOf(call, 1, {5166404, 9}));
  std::optional<int64_t> amount;
  if (call[2].IsNumber()) amount = bson::Number::Of(call[2]).ToInt64Exact();
  if (!amount) return CallError(5166405, call.name, " expects integer amount of time units");
  BRAID_TRY(TimeZone zone, ZoneOperand(call, 3));
  int64_t size = 0;
  int64_t result = 0;
  const int64_t per = unit.span == Span::kDays ? unit.size * kMillisPerDay : unit.size;
  constexpr int64_t kMonthsMax = int64_t{600000000} * 12;  // beyond what a date can hold
  bool overflow = __builtin_mul_overflow(*amount, sign * per, &size);
  if (!overflow && unit.span == Span::kMonths) {
    overflow = size > kMonthsMax || size < -kMonthsMax;
    if (!overflow) {
      const int64_t local = zone.ToLocal(date);
      const int64_t year = CalendarOf(local).year + size / 12;
      overflow = year > 292000000 || year < -292000000;
      if (!overflow) result = zone.ToUtc(AddMonths(local, size));
    }
  } else if (!overflow) {
    const int64_t local = unit.span == Span::kDays ? zone.ToLocal(date) : date;
    overflow = __builtin_add_overflow(local, size, &result);
    if (!overflow && unit.span == Span::kDays) result = zone.ToUtc(result);
  }
  if (overflow) return CallError(5166406, call.name, " overflowed");
  return call.arena().DateMillis(result);
}

constexpr NamedOperand kAdd[] = {{"startDate", 5166402}, {"unit", 5166402}, {"amount", 5166402}, {"timezone"}};
constexpr NamedOperand kDiff[] = {
    {"startDate", 5166303}, {"endDate", 5166304}, {"unit", 5166305}, {"timezone"}, {"startOfWeek"}};
constexpr NamedOperand kTrunc[] = {{"date", 5439009}, {"unit", 5439010}, {"binSize"}, {"timezone"}, {"startOfWeek"}};

}  // namespace

const NamedOperands kDateAddOperands = {5166400, 5166401, kAdd};
const NamedOperands kDateDiffOperands = {5166301, 5166302, kDiff};
const NamedOperands kDateTruncOperands = {5439007, 5439008, kTrunc};

Result<Value> DateAdd(const Call& call) { return Shift(call, 1); }
Result<Value> DateSubtract(const Call& call) { return Shift(call, -1); }

/// How many boundaries of the unit lie between the two.
Result<Value> DateDiff(const Call& call) {
  for (size_t i = 0; i < 4; ++i) {
    if ((i < 3 || call.Has(i)) && call[i].IsNullish()) return call.arena().Null();
  }
  BRAID_TRY(int64_t start, NeedDate(call, 0, 5166307));
  BRAID_TRY(int64_t end, NeedDate(call, 1, 5166307));
  BRAID_TRY(Unit unit, UnitOf(call, 2, {5439013, 9}));
  const bool week = unit.name == "week";
  if (week && call.Has(4) && call[4].IsNullish()) return call.arena().Null();
  int64_t first_day = 0;
  if (week) {
    BRAID_TRY(first_day, StartOfWeek(call, 4));
  }
  BRAID_TRY(TimeZone zone, ZoneOperand(call, 3));
  auto index = [&](int64_t utc) {
    switch (unit.span) {
      case Span::kMonths: return FloorDiv(MonthsOf(zone.ToLocal(utc)), unit.size);
      case Span::kDays: {
        const int64_t days = FloorDiv(zone.ToLocal(utc), kMillisPerDay);
        return week ? FloorDiv(days + 3 - first_day, 7) : days;  // 1970-01-01 was day 3 of its week
      }
      default:
        return FloorDiv(utc + FloorMod(zone.OffsetAt(utc), unit.size), unit.size);  // whole hours of shift do not count
    }
  };
  int64_t result = 0;
  if (__builtin_sub_overflow(index(end), index(start), &result)) return CallError(5166308, "$dateDiff overflowed");
  return call.arena().Int64(result);
}

/// The lower end of the bin the date is in; bins are counted from 2000-01-01.
Result<Value> DateTrunc(const Call& call) {
  for (size_t i = 0; i < 4; ++i) {
    if ((i < 2 || call.Has(i)) && call[i].IsNullish()) return call.arena().Null();
  }
  BRAID_TRY(int64_t date, NeedDate(call, 0, 5439012));
  BRAID_TRY(Unit unit, UnitOf(call, 1, {5439013, 9}));
  int64_t bin = 1;
  if (call.Has(2)) {
    std::optional<int64_t> exact;
    if (call[2].IsNumber()) exact = bson::Number::Of(call[2]).ToInt64Exact();
    if (!exact)
      return CallError(5439017, "$dateTrunc requires 'binSize' to be a 64-bit integer, but got ", TypeOf(call[2]));
    if (*exact <= 0) return CallError(5439018, "$dateTrunc requires 'binSize' to be greater than 0, but got ", *exact);
    bin = *exact;
  }
  const bool week = unit.name == "week";
  if (week && call.Has(4) && call[4].IsNullish()) return call.arena().Null();
  int64_t first_day = 0;
  if (week) {
    BRAID_TRY(first_day, StartOfWeek(call, 4));
  }
  BRAID_TRY(TimeZone zone, ZoneOperand(call, 3));
  if (__builtin_mul_overflow(bin, unit.size, &bin) || bin > int64_t{100000000000} * 1000) {
    return CallError(5439005, "$dateTrunc: 'binSize' in the unit is too large");
  }
  const int64_t origin = DaysOf(2000, 1, 1);  // a Saturday
  switch (unit.span) {
    case Span::kMillis: {
      const int64_t start = zone.ToUtc(origin * kMillisPerDay);
      return call.arena().DateMillis(start + FloorDiv(date - start, bin) * bin);
    }
    case Span::kDays: {
      const int64_t days = FloorDiv(zone.ToLocal(date), kMillisPerDay);
      const int64_t start = week ? origin + FloorMod(first_day - 5, 7) : origin;
      return call.arena().DateMillis(zone.ToUtc((start + FloorDiv(days - start, bin) * bin) * kMillisPerDay));
    }
    case Span::kMonths: break;
  }
  const int64_t months = 2000 * 12 + FloorDiv(MonthsOf(zone.ToLocal(date)) - 2000 * 12, bin) * bin;
  return call.arena().DateMillis(zone.ToUtc(DaysOf(FloorDiv(months, 12), FloorMod(months, 12) + 1, 1) * kMillisPerDay));
}

}  // namespace braid::query::functions
