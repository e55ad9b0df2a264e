// Years are counted from March, so that the leap day is the last of its year; 400 years are one era of 146097 days.
#include "engine/language/expression/calendar.h"

#include "base/assert.h"

namespace braid::query {

int64_t DaysOf(int64_t year, int64_t month, int64_t day) {
  year += FloorDiv(month - 1, 12);
  month = FloorMod(month - 1, 12) + 1;
  if (month <= 2) --year;
  const int64_t era = FloorDiv(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

CalendarTime CalendarOf(int64_t millis) {
  CalendarTime time;
  int64_t days = FloorDiv(millis, kMillisPerDay);
  int64_t rest = millis - days * kMillisPerDay;
  days += 719468;
  const int64_t era = FloorDiv(days, 146097);
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t march_month = (5 * day_of_year + 2) / 153;
  time.day = day_of_year - (153 * march_month + 2) / 5 + 1;
  time.month = march_month < 10 ? march_month + 3 : march_month - 9;
  time.year = year_of_era + era * 400 + (time.month <= 2 ? 1 : 0);
  BRAID_ASSERT(time.month >= 1 && time.month <= 12 && time.day >= 1 && time.day <= 31);
  time.hour = rest / kMillisPerHour;
  rest %= kMillisPerHour;
  time.minute = rest / kMillisPerMinute;
  rest %= kMillisPerMinute;
  time.second = rest / kMillisPerSecond;
  time.millisecond = rest % kMillisPerSecond;
  return time;
}

int64_t MillisOf(const CalendarTime& time) {
  return DaysOf(time.year, time.month, time.day) * kMillisPerDay + time.hour * kMillisPerHour +
         time.minute * kMillisPerMinute + time.second * kMillisPerSecond + time.millisecond;
}

int64_t DayOfWeek(int64_t days) { return FloorMod(days + 4, 7) + 1; }  // 1970-01-01 was a Thursday

IsoWeekTime IsoWeekOf(int64_t millis) {
  const int64_t days = FloorDiv(millis, kMillisPerDay);
  const int64_t day = FloorMod(days + 3, 7) + 1;
  const int64_t thursday = days - day + 4;  // a week belongs to the year of its Thursday
  const int64_t year = CalendarOf(thursday * kMillisPerDay).year;
  return {year, (thursday - DaysOf(year, 1, 1)) / 7 + 1, day};
}

int64_t DaysOfIsoWeek(const IsoWeekTime& time) {
  const int64_t fourth = DaysOf(time.year, 1, 4);  // always in week 1
  const int64_t first_monday = fourth - FloorMod(fourth + 3, 7);
  return first_monday + (time.week - 1) * 7 + time.day - 1;
}

int64_t DayOfYear(const CalendarTime& time) {
  return DaysOf(time.year, time.month, time.day) - DaysOf(time.year, 1, 1) + 1;
}

int64_t DaysInMonth(int64_t year, int64_t month) {
  const int64_t days = DaysOf(year, month + 1, 1) - DaysOf(year, month, 1);
  BRAID_ASSERT(days >= 28 && days <= 31);
  return days;
}

}  // namespace braid::query
