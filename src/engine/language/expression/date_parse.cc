// ParseDate: text to milliseconds, by a format or by trying the usual forms.
#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "engine/language/expression/calendar.h"
#include "engine/language/expression/date_format.h"
#include "engine/language/expression/text.h"

namespace braid::query {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Reads text from the front; each step returns whether it found what it looked for.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  char Peek(size_t i = 0) const { return i < rest_.size() ? rest_[i] : '\0'; }
  void Skip(size_t n) { rest_.remove_prefix(std::min(n, rest_.size())); }
  bool Take(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  size_t Digits() const {
    size_t n = 0;
    while (IsDigit(Peek(n))) ++n;
    return n;
  }
  /// Between `min` and `max` digits.
  bool Number(size_t min, size_t max, int64_t* out) {
    const size_t n = std::min(Digits(), max);
    if (n < min) return false;
    *out = 0;
    for (size_t i = 0; i < n; ++i) *out = *out * 10 + (rest_[i] - '0');
    rest_.remove_prefix(n);
    return true;
  }
  std::string_view Word() {
    size_t n = 0;
    while (IsAlpha(Peek(n))) ++n;
    std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  void Blanks() {
    while (Peek() == ' ' || Peek() == ',' || Peek() == '\t') rest_.remove_prefix(1);
  }

 private:
  std::string_view rest_;
};

bool SameText(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// 1 … 12 for a month's name or its first three letters; 0 if it is none.
int64_t MonthOf(std::string_view word) {
  for (int i = 0; i < 12; ++i) {
    if (SameText(word, kMonthNames[i]) || SameText(word, kMonthNames[i].substr(0, 3))) return i + 1;
  }
  return 0;
}

bool IsWeekDay(std::string_view word) {
  constexpr std::string_view kDays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
  return std::ranges::any_of(kDays,
                             [&](std::string_view d) { return SameText(word, d) || SameText(word, d.substr(0, 3)); });
}

/// The fields that were read, before they become a point in time.
struct Read {
  CalendarTime time;
  bool has_date = false;
  std::optional<TimeZone> zone;
};

/// Z, UTC, an offset or a zone's name, up to the end.
bool ReadZone(Reader& reader, std::optional<TimeZone>* zone) {
  std::string_view name = reader.rest();
  if (SameText(name, "z") || SameText(name, "utc") || SameText(name, "gmt")) name = "UTC";
  if (name.size() > 3 && (name.starts_with("GMT") || name.starts_with("UTC")) && (name[3] == '+' || name[3] == '-')) {
    name.remove_prefix(3);
  }
  std::string padded;
  if (name.size() == 2 && (name[0] == '+' || name[0] == '-')) {
    padded = StrCat(name[0], "0", name[1]);
    name = padded;
  }
  Result<TimeZone> found = TimeZone::Find(name);
  if (!found.ok()) return false;
  *zone = *found;
  reader.Skip(reader.rest().size());
  return true;
}

bool ReadFraction(Reader& reader, int64_t* millisecond) {
  const size_t digits = reader.Digits();
  if (digits == 0) return false;
  int64_t value = 0;
  for (size_t i = 0; i < 3; ++i) value = value * 10 + (i < digits ? reader.Peek(i) - '0' : 0);
  *millisecond = value;
  reader.Skip(digits);
  return true;
}

bool ReadTime(Reader& reader, CalendarTime* time) {
  const size_t digits = reader.Digits();
  if (digits == 4 || digits == 6) {  // 0405 or 040506
    if (!reader.Number(2, 2, &time->hour) || !reader.Number(2, 2, &time->minute)) return false;
    if (digits == 6 && !reader.Number(2, 2, &time->second)) return false;
  } else {
    if (!reader.Number(1, 2, &time->hour) || !reader.Take(':') || !reader.Number(2, 2, &time->minute)) return false;
    if (reader.Take(':') && !reader.Number(2, 2, &time->second)) return false;
  }
  if ((reader.Peek() == '.' || reader.Peek() == ',') && IsDigit(reader.Peek(1))) {
    reader.Skip(1);
    ReadFraction(reader, &time->millisecond);
  }
  const char half = reader.Peek(reader.Peek() == ' ' ? 1 : 0);
  if (half == 'a' || half == 'A' || half == 'p' || half == 'P') {
    Reader ahead = reader;
    ahead.Blanks();
    const std::string_view word = ahead.Word();
    if (SameText(word, "am") || SameText(word, "pm")) {
      if (time->hour < 1 || time->hour > 12) return false;
      time->hour = time->hour % 12 + (SameText(word, "pm") ? 12 : 0);
      reader = ahead;
    }
  }
  return time->hour <= 24 && time->minute <= 59 && time->second <= 59;
}

bool ReadDate(Reader& reader, CalendarTime* time) {
  if (IsAlpha(reader.Peek())) {
    std::string_view word = reader.Word();
    if (IsWeekDay(word)) {
      reader.Blanks();
      if (!IsAlpha(reader.Peek())) return ReadDate(reader, time);
      word = reader.Word();
    }
    time->month = MonthOf(word);  // February 3, 2021
    reader.Take('.');
    reader.Blanks();
    if (time->month == 0 || !reader.Number(1, 2, &time->day)) return false;
    const std::string_view suffix = reader.Word();
    if (!suffix.empty() && suffix != "st" && suffix != "nd" && suffix != "rd" && suffix != "th") return false;
    reader.Blanks();
    return reader.Number(4, 4, &time->year);
  }
  const size_t digits = reader.Digits();
  if (digits == 8) {  // 20210203
    return reader.Number(4, 4, &time->year) && reader.Number(2, 2, &time->month) && reader.Number(2, 2, &time->day);
  }
  if (digits == 4) {
    if (!reader.Number(4, 4, &time->year)) return false;
    if (reader.Peek() == '-' && reader.Peek(1) == 'W') {  // 2021-W05-3
      IsoWeekTime week{time->year, 1, 1};
      reader.Skip(2);
      if (!reader.Number(2, 2, &week.week)) return false;
      if (reader.Take('-') && !reader.Number(1, 1, &week.day)) return false;
      const CalendarTime found = CalendarOf(DaysOfIsoWeek(week) * kMillisPerDay);
      time->year = found.year;
      time->month = found.month;
      time->day = found.day;
      return week.week >= 1 && week.week <= 53 && week.day >= 1 && week.day <= 7;
    }
    const char separator = reader.Peek();
    if (separator != '-' && separator != '/' && separator != '.') return false;
    reader.Skip(1);
    if (!reader.Number(1, 2, &time->month)) return false;
    return !reader.Take(separator) || reader.Number(1, 2, &time->day);
  }
  if (digits != 1 && digits != 2) return false;
  int64_t first = 0;
  reader.Number(1, 2, &first);
  if (reader.Take('/')) {  // 2/3/2021, month first
    time->month = first;
    return reader.Number(1, 2, &time->day) && reader.Take('/') && reader.Number(4, 4, &time->year);
  }
  const char separator = reader.Peek();
  if ((separator == '-' || separator == '.') && IsDigit(reader.Peek(1))) {  // 3-2-2021, day first
    time->day = first;
    reader.Skip(1);
    return reader.Number(1, 2, &time->month) && reader.Take(separator) && reader.Number(4, 4, &time->year);
  }
  time->day = first;  // 3 February 2021, 3-Feb-2021
  if (!reader.Take('-')) reader.Blanks();
  time->month = MonthOf(reader.Word());
  if (!reader.Take('-')) reader.Blanks();
  return time->month != 0 && reader.Number(4, 4, &time->year);
}

Status Failure(std::string_view text, std::string_view why) {
  return {Code::kConversionFailure, StrCat("Error parsing date string '", text, "'; ", why)};
}

Result<int64_t> MomentOf(std::string_view text, const Read& read, const std::optional<TimeZone>& zone) {
  const CalendarTime& time = read.time;
  if (!read.has_date) return Failure(text, "an incomplete date/time string has been found, with elements missing");
  if (time.month < 1 || time.month > 12 || time.day < 1 || time.day > DaysInMonth(time.year, time.month)) {
    return Failure(text, "The parsed date was invalid");
  }
  if (read.zone && zone) {
    return Failure(
        text, "you cannot pass in a date/time string with time zone information together with a timezone argument");
  }
  return read.zone.value_or(zone.value_or(TimeZone())).ToUtc(MillisOf(time));
}

}  // namespace

Result<int64_t> ParseDate(std::string_view text, const std::optional<TimeZone>& zone) {
  Reader reader(text);
  Read read;
  reader.Blanks();
  if (reader.Peek() == '@' && reader.rest().size() > 1) {  // seconds since 1970
    reader.Skip(1);
    const bool negative = reader.Take('-');
    int64_t seconds = 0;
    if (!reader.Number(1, 15, &seconds) || !reader.done()) return Failure(text, "Unexpected character");
    return (negative ? -seconds : seconds) * kMillisPerSecond;
  }
  if (!ReadDate(reader, &read.time)) return Failure(text, "it has no date in a known form");
  read.has_date = true;
  if (!reader.Take('T') && !reader.Take('t')) reader.Blanks();
  if (IsDigit(reader.Peek()) && !ReadTime(reader, &read.time)) return Failure(text, "its time is in no known form");
  reader.Blanks();
  if (!reader.done() && !ReadZone(reader, &read.zone))
    return Failure(text, "The timezone could not be found in the database");
  return MomentOf(text, read, zone);
}

namespace {

/// Reads what one specifier stands for.
struct FormatState {
  Read read;
  IsoWeekTime week{0, 1, 1};
  int64_t day_of_year = 0;
  bool year = false, month = false, day = false, iso_year = false;
};

bool ReadSpecifier(char specifier, Reader& reader, FormatState* state) {
  CalendarTime& time = state->read.time;
  switch (specifier) {
    case 'Y': return state->year = reader.Number(4, 4, &time.year);
    case 'm': return state->month = reader.Number(1, 2, &time.month);
    case 'd': return state->day = reader.Number(1, 2, &time.day);
    case 'H': return reader.Number(1, 2, &time.hour) && time.hour <= 23;
    case 'M': return reader.Number(1, 2, &time.minute) && time.minute <= 59;
    case 'S': return reader.Number(1, 2, &time.second) && time.second <= 59;
    case 'L': return ReadFraction(reader, &time.millisecond);
    case 'j': return reader.Number(1, 3, &state->day_of_year) && state->day_of_year >= 1 && state->day_of_year <= 366;
    case 'G': return state->iso_year = reader.Number(4, 4, &state->week.year);
    case 'V': return reader.Number(1, 2, &state->week.week) && state->week.week >= 1 && state->week.week <= 53;
    case 'u': return reader.Number(1, 1, &state->week.day) && state->week.day >= 1 && state->week.day <= 7;
    case 'b':
    case 'B': return state->month = (time.month = MonthOf(reader.Word())) != 0;
    case 'z':
    case 'Z': {
      const bool minutes = specifier == 'Z';
      size_t n = 0;
      while (IsAlpha(reader.Peek(n)) || IsDigit(reader.Peek(n)) ||
             (reader.Peek(n) != '\0' && std::string_view("+-:/_").find(reader.Peek(n)) != std::string_view::npos))
        ++n;
      Reader name(reader.rest().substr(0, n));
      reader.Skip(n);
      if (minutes && (name.Peek() == '+' || name.Peek() == '-')) {
        const int64_t sign = name.Peek() == '-' ? -1 : 1;
        int64_t value = 0;
        name.Skip(1);
        if (!name.Number(1, 4, &value) || !name.done()) return false;
        state->read.zone = TimeZone::Fixed(sign * value * kMillisPerMinute);
        return true;
      }
      return ReadZone(name, &state->read.zone);
    }
    default: return reader.Take('%');
  }
}

}  // namespace

Result<int64_t> ParseDate(std::string_view text, std::string_view format, const std::optional<TimeZone>& zone) {
  Reader reader(text);
  FormatState state;
  for (size_t i = 0; i < format.size(); ++i) {
    const bool fits = format[i] == '%' ? ReadSpecifier(format[++i], reader, &state) : reader.Take(format[i]);
    if (!fits) return Failure(text, "Format literal not found");
  }
  if (!reader.done()) return Failure(text, "Trailing data");
  CalendarTime& time = state.read.time;
  int64_t days = 0;
  if (state.iso_year) {
    if (state.year || state.month || state.day)
      return Failure(text, "Mixing of ISO dates with natural dates is not allowed");
    days = DaysOfIsoWeek(state.week);
  } else if (state.year && state.day_of_year > 0) {
    days = DaysOf(time.year, 1, state.day_of_year);
  } else {
    state.read.has_date = state.year && state.month && state.day;
    return MomentOf(text, state.read, zone);
  }
  const CalendarTime found = CalendarOf(days * kMillisPerDay);
  time.year = found.year;
  time.month = found.month;
  time.day = found.day;
  state.read.has_date = true;
  return MomentOf(text, state.read, zone);
}

}  // namespace braid::query
