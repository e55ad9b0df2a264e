// The proleptic Gregorian calendar over milliseconds since 1970, without time zones; any date an int64 can hold.
#pragma once

#include <cstdint>

namespace braid::query {

constexpr int64_t kMillisPerSecond = 1000;
constexpr int64_t kMillisPerMinute = 60 * kMillisPerSecond;
constexpr int64_t kMillisPerHour = 60 * kMillisPerMinute;
constexpr int64_t kMillisPerDay = 24 * kMillisPerHour;

constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
constexpr int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

struct CalendarTime {
  int64_t year = 1970;
  int64_t month = 1;  // 1 … 12
  int64_t day = 1;    // 1 … 31
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  int64_t millisecond = 0;
};

struct IsoWeekTime {
  int64_t year;
  int64_t week;  // 1 … 53
  int64_t day;   // 1 Monday … 7 Sunday
};

/// Days since 1970-01-01; the month may be any number and is carried into the year.
int64_t DaysOf(int64_t year, int64_t month, int64_t day);
CalendarTime CalendarOf(int64_t millis);
/// Parts out of their range are carried into the next greater one.
int64_t MillisOf(const CalendarTime& time);
IsoWeekTime IsoWeekOf(int64_t millis);
/// The days since 1970-01-01 of a day in an ISO week.
int64_t DaysOfIsoWeek(const IsoWeekTime& time);
int64_t DayOfYear(const CalendarTime& time);  ///< 1 … 366
int64_t DayOfWeek(int64_t days);              ///< 1 Sunday … 7 Saturday
int64_t DaysInMonth(int64_t year, int64_t month);

}  // namespace braid::query
