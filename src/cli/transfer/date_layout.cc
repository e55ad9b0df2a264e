#include "cli/transfer/date_layout.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <span>

#include "base/strings.h"

namespace braid::transfer {
namespace {

using Part = DateLayout::Part;

struct Token {
  std::string_view text;
  Part part;
};
// In each notation a token stands before those that begin it.
constexpr Token kGo[] = {
    {"January", Part::kMonthName},
    {"Monday", Part::kWeekday},
    {"Z07:00", Part::kOffset},
    {"-07:00", Part::kOffset},
    {"Z0700", Part::kOffset},
    {"-0700", Part::kOffset},
    {"2006", Part::kYear4},
    {".000000000", Part::kFraction},
    {".000000", Part::kFraction},
    {".000", Part::kFraction},
    {".999999999", Part::kFraction},
    {".999999", Part::kFraction},
    {".999", Part::kFraction},
    {"MST", Part::kOffset},
    {"Jan", Part::kMonthName},
    {"Mon", Part::kWeekday},
    {"01", Part::kMonth},
    {"02", Part::kDay},
    {"03", Part::kHour12},
    {"04", Part::kMinute},
    {"05", Part::kSecond},
    {"06", Part::kYear2},
    {"15", Part::kHour24},
    {"PM", Part::kHalf},
    {"pm", Part::kHalf},
    {"_2", Part::kDay},
    {"1", Part::kMonth},
    {"2", Part::kDay},
    {"3", Part::kHour12},
    {"4", Part::kMinute},
    {"5", Part::kSecond},
};
constexpr Token kMs[] = {
    {"yyyy", Part::kYear4},    {"MMMM", Part::kMonthName}, {"dddd", Part::kWeekday}, {".fff", Part::kFraction},
    {"MMM", Part::kMonthName}, {"ddd", Part::kWeekday},    {"zzz", Part::kOffset},   {"yy", Part::kYear2},
    {"MM", Part::kMonth},      {"dd", Part::kDay},         {"HH", Part::kHour24},    {"hh", Part::kHour12},
    {"mm", Part::kMinute},     {"ss", Part::kSecond},      {"tt", Part::kHalf},      {"K", Part::kOffset},
    {"M", Part::kMonth},       {"d", Part::kDay},          {"H", Part::kHour24},     {"h", Part::kHour12},
    {"m", Part::kMinute},      {"s", Part::kSecond},
};
constexpr Token kOracle[] = {
    {"TZH:TZM", Part::kOffset}, {"MONTH", Part::kMonthName}, {"YYYY", Part::kYear4},   {"HH24", Part::kHour24},
    {"HH12", Part::kHour12},    {".FF3", Part::kFraction},   {".FF", Part::kFraction}, {"MON", Part::kMonthName},
    {"DAY", Part::kWeekday},    {"YY", Part::kYear2},        {"MM", Part::kMonth},     {"DD", Part::kDay},
    {"HH", Part::kHour12},      {"MI", Part::kMinute},       {"SS", Part::kSecond},    {"AM", Part::kHalf},
    {"PM", Part::kHalf},        {"DY", Part::kWeekday},
};

std::span<const Token> Tokens(DateLayout::Notation notation) {
  switch (notation) {
    case DateLayout::Notation::kGo: return kGo;
    case DateLayout::Notation::kMs: return kMs;
    case DateLayout::Notation::kOracle: break;
  }
  return kOracle;
}

constexpr std::string_view kMonths[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What has been read of a date, and what is left to read.
struct Reading {
  std::string_view rest;
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millis = 0;
  int offset_minutes = 0;
  std::optional<bool> afternoon;

  bool Number(int digits_min, int digits_max, int& value) {
    size_t n = 0;
    value = 0;
    while (n < rest.size() && n < static_cast<size_t>(digits_max) && IsDigit(rest[n]))
      value = value * 10 + rest[n++] - '0';
    rest.remove_prefix(n);
    return n >= static_cast<size_t>(digits_min);
  }
  std::string Word() {
    std::string word;
    while (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest[0]))) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(rest[0])));
      rest.remove_prefix(1);
    }
    return word;
  }
  bool MonthName() {
    const std::string word = Word();
    const auto* found = std::find_if(std::begin(kMonths), std::end(kMonths), [&](std::string_view name) {
      return word == name || (word.size() == 3 && name.starts_with(word));
    });
    month = static_cast<int>(found - std::begin(kMonths)) + 1;
    return found != std::end(kMonths);
  }
  bool Fraction() {  // may be absent
    if (rest.empty() || (rest[0] != '.' && rest[0] != ',')) return true;
    rest.remove_prefix(1);
    size_t n = 0;
    for (int scale = 100; n < rest.size() && IsDigit(rest[n]); ++n, scale /= 10) millis += (rest[n] - '0') * scale;
    rest.remove_prefix(n);
    return n > 0;
  }
  bool Offset() {
    if (rest.starts_with('Z') || rest.starts_with("UTC") || rest.starts_with("GMT")) {
      rest.remove_prefix(rest[0] == 'Z' ? 1 : 3);
      return true;
    }
    if (rest.empty() || (rest[0] != '+' && rest[0] != '-')) return false;
    const int sign = rest[0] == '-' ? -1 : 1;
    rest.remove_prefix(1);
    int hours = 0;
    int minutes = 0;
    if (!Number(2, 2, hours)) return false;
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (!Number(2, 2, minutes)) return false;
    offset_minutes = sign * (hours * 60 + minutes);
    return true;
  }
  bool Half() {
    const std::string word = Word();
    afternoon = word == "pm";
    return word == "am" || word == "pm";
  }
  bool Apply(Part part) {
    switch (part) {
      case Part::kLiteral: return false;
      case Part::kYear4: return Number(4, 4, year);
      case Part::kYear2: {
        if (!Number(2, 2, year)) return false;
        year += year >= 69 ? 1900 : 2000;
        return true;
      }
      case Part::kMonth: return Number(1, 2, month);
      case Part::kMonthName: return MonthName();
      case Part::kDay:
        if (rest.starts_with(' ')) rest.remove_prefix(1);
        return Number(1, 2, day);
      case Part::kHour24: return Number(1, 2, hour);
      case Part::kHour12: return Number(1, 2, hour) && hour >= 1 && hour <= 12;
      case Part::kMinute: return Number(1, 2, minute);
      case Part::kSecond: return Number(1, 2, second);
      case Part::kFraction: return Fraction();
      case Part::kHalf: return Half();
      case Part::kOffset: return Offset();
      case Part::kWeekday: return !Word().empty();
    }
    return false;
  }
  std::optional<int64_t> Millis() {
    namespace chrono = std::chrono;
    if (afternoon) hour = hour % 12 + (*afternoon ? 12 : 0);
    const chrono::year_month_day date{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                      chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    const auto time = chrono::sys_days(date) + chrono::hours(hour) + chrono::minutes(minute - offset_minutes) +
                      chrono::seconds(second);
    return chrono::duration_cast<chrono::milliseconds>(time.time_since_epoch()).count() + millis;
  }
};

}  // namespace

Result<DateLayout> DateLayout::Parse(std::string_view layout, Notation notation) {
  DateLayout result;
  bool any = false;
  while (!layout.empty()) {
    const std::span<const Token> tokens = Tokens(notation);
    const auto token =
        std::find_if(tokens.begin(), tokens.end(), [&](const Token& t) { return layout.starts_with(t.text); });
    if (token != tokens.end()) {
      result.pieces_.push_back({token->part, ""});
      layout.remove_prefix(token->text.size());
      any = true;
      continue;
    }
    if (result.pieces_.empty() || result.pieces_.back().part != Part::kLiteral)
      result.pieces_.push_back({Part::kLiteral, ""});
    result.pieces_.back().literal += layout[0];
    layout.remove_prefix(1);
  }
  if (any) return result;
  return Status(Code::kBadValue,
                "a date needs a layout, such as date(2006-01-02 15:04:05), date_ms(yyyy-MM-dd) or "
                "date_oracle(YYYY-MM-DD HH24:MI:SS)");
}

std::optional<int64_t> DateLayout::Read(std::string_view text) const {
  Reading reading{.rest = text};
  for (const Piece& piece : pieces_) {
    if (piece.part != Part::kLiteral) {
      if (!reading.Apply(piece.part)) return std::nullopt;
      continue;
    }
    if (!reading.rest.starts_with(piece.literal)) return std::nullopt;
    reading.rest.remove_prefix(piece.literal.size());
  }
  return reading.rest.empty() ? reading.Millis() : std::nullopt;
}

}  // namespace braid::transfer
