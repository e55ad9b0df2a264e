// Texts of values, and steps through UTF-8.
#include "engine/language/expression/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/language/expression/calendar.h"

namespace braid::query {

using bson::Type;
using bson::Value;

namespace {

/// As printf's %g: six digits. Only where MongoDB coerces silently; conversions asked for use DoubleText.
std::string ShortDoubleText(double v) { return fmt::format("{:g}", v); }

/// "Jan  1 00:00:05:1": month, day and time of the seconds, then the increment.
std::string TimestampText(uint64_t bits) {
  const auto seconds = static_cast<time_t>(bits >> 32);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%b %e %H:%M:%S", &parts);
  return StrCat(text, ":", bits & 0xffffffff);
}

std::string_view Keep(bson::Arena& arena, std::string_view text) { return {arena.Copy(text), text.size()}; }

}  // namespace

Result<std::string_view> CoerceToString(const Value& value, bson::Arena& arena) {
  switch (value.type()) {
    case Type::kMissing:
    case Type::kNull:
    case Type::kUndefined: return std::string_view();
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode: return value.AsString();
    case Type::kInt32: return Keep(arena, StrCat(value.AsInt32()));
    case Type::kInt64: return Keep(arena, StrCat(value.AsInt64()));
    case Type::kDouble: return Keep(arena, ShortDoubleText(value.AsDouble()));
    case Type::kDecimal128: return Keep(arena, bson::decimal::ToString(value.AsDecimal()));
    case Type::kDate: return Keep(arena, IsoDateText(value.AsDate()));
    case Type::kTimestamp: return Keep(arena, TimestampText(value.AsTimestamp()));
    default:
      return Status(Location(16007),
                    StrCat("can't convert from BSON type ", bson::TypeName(value.type()), " to String"));
  }
}

std::string DoubleText(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  const double size = std::abs(v);
  const bool plain = v == 0 || (size >= 1e-6 && size < 1e21);
  char text[64];
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  return {text, std::to_chars(text, text + sizeof(text), v, format).ptr};
}

std::string IsoDateText(int64_t millis) {
  const CalendarTime time = CalendarOf(millis);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", time.year, time.month, time.day, time.hour,
                     time.minute, time.second, time.millisecond);
}

size_t CountCodePoints(std::string_view text) {
  size_t count = 0;
  for (char c : text) count += !IsContinuationByte(c);
  return count;
}

size_t CodePointOffset(std::string_view text, size_t index) {
  size_t at = 0;
  while (at < text.size() && index > 0) {
    NextCodePoint(text, &at);
    --index;
  }
  return at;
}

std::string_view NextCodePoint(std::string_view text, size_t* at) {
  const size_t start = (*at)++;
  while (*at < text.size() && IsContinuationByte(text[*at])) ++*at;
  return text.substr(start, *at - start);
}

}  // namespace braid::query
