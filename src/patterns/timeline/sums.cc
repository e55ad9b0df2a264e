#include "patterns/timeline/sums.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>

#include "base/strings.h"

namespace braid::timeline {
namespace {

using boost::multiprecision::cpp_int;

constexpr size_t kShortDigits = 17;    // the sum of two such numbers fits into 64 bits
constexpr size_t kDigitsMax = 10'000;  // a longer text is a mistake, and slow to read

// The sign apart from the digits, which have no leading zeros: to Boost these would mean octal.
struct Digits {
  bool negative = false;
  std::string_view digits;
};

std::optional<Digits> DigitsOf(std::string_view text) {
  Digits parsed;
  if (text.starts_with('-')) {
    parsed.negative = true;
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  parsed.digits = text;
  return parsed;
}

int64_t ShortOf(const Digits& parsed) {
  int64_t value = 0;
  for (const char digit : parsed.digits) value = value * 10 + (digit - '0');
  return parsed.negative ? -value : value;
}

cpp_int LongOf(const Digits& parsed) {
  const cpp_int value{std::string(parsed.digits)};
  return parsed.negative ? -value : value;
}

std::optional<std::string> Combine(std::string_view a, std::string_view b, bool subtract) {
  const auto left = DigitsOf(a);
  auto right = DigitsOf(b);
  if (!left || !right) return std::nullopt;
  if (subtract) right->negative = !right->negative;
  if (left->digits.size() <= kShortDigits && right->digits.size() <= kShortDigits) {
    return StrCat(ShortOf(*left) + ShortOf(*right));
  }
  return cpp_int(LongOf(*left) + LongOf(*right)).str();
}

}  // namespace

std::optional<std::string> AddDecimals(std::string_view a, std::string_view b) { return Combine(a, b, false); }

std::optional<std::string> SubtractDecimals(std::string_view a, std::string_view b) { return Combine(a, b, true); }

}  // namespace braid::timeline
