// FormatDate: the specifiers of $dateToString.
#include "engine/language/expression/date_format.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "engine/language/expression/calendar.h"

namespace braid::query {
namespace {

constexpr std::string_view kSpecifiers = "%bBdGHjLmMSuUVwYzZ";
constexpr std::string_view kParseSpecifiers = "%bBdGHjLmMSuVYzZ";

}  // namespace

Status CheckDateFormat(std::string_view format, bool parsing) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (++i == format.size()) return {Location(18535), "Unmatched '%' at end of format string"};
    if ((parsing ? kParseSpecifiers : kSpecifiers).find(format[i]) == std::string_view::npos) {
      return {Location(18536), StrCat("Invalid format character '%", format[i], "' in format string")};
    }
  }
  return {};
}

Result<std::string> FormatDate(int64_t utc_millis, std::string_view format, const TimeZone& zone) {
  const int64_t offset = zone.OffsetAt(utc_millis);
  const int64_t local = utc_millis + offset;
  const CalendarTime time = CalendarOf(local);
  const int64_t week_day = DayOfWeek(FloorDiv(local, kMillisPerDay));
  std::string out;
  auto put = [&out](int64_t n, int width) { fmt::format_to(std::back_inserter(out), "{:0{}}", n, width); };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    switch (format[++i]) {
      case 'Y':
        if (time.year < 0 || time.year > 9999) {
          return Status(Location(18537),
                        "Could not convert date to string: date component was outside the supported range of 0-9999: " +
                            StrCat(time.year));
        }
        put(time.year, 4);
        break;
      case 'm': put(time.month, 2); break;
      case 'd': put(time.day, 2); break;
      case 'H': put(time.hour, 2); break;
      case 'M': put(time.minute, 2); break;
      case 'S': put(time.second, 2); break;
      case 'L': put(time.millisecond, 3); break;
      case 'j': put(DayOfYear(time), 3); break;
      case 'w': put(week_day, 1); break;
      case 'U': put((DayOfYear(time) + 7 - week_day) / 7, 2); break;
      case 'G': put(IsoWeekOf(local).year, 4); break;
      case 'V': put(IsoWeekOf(local).week, 2); break;
      case 'u': put(IsoWeekOf(local).day, 1); break;
      case 'b': out += kMonthNames[time.month - 1].substr(0, 3); break;
      case 'B': out += kMonthNames[time.month - 1]; break;
      case 'z': {
        const int64_t minutes = (offset < 0 ? -offset : offset) / kMillisPerMinute;
        out += offset < 0 ? '-' : '+';
        put(minutes / 60, 2);
        put(minutes % 60, 2);
        break;
      }
      case 'Z': fmt::format_to(std::back_inserter(out), "{:+}", FloorDiv(offset, kMillisPerMinute)); break;
      default: out += '%'; break;
    }
  }
  return out;
}

}  // namespace braid::query
