// Strings as operators see them: values made strings, and UTF-8 counted in code points.
#pragma once

#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/arena.h"

namespace braid::query {

/// A value as the string that $toLower, $substr and $strcasecmp read: null and missing are "", numbers and dates are
/// printed. Location(16007) for the rest.
Result<std::string_view> CoerceToString(const bson::Value& value, bson::Arena& arena);

/// The shortest text that reads back as the same double; exponents as JavaScript writes them.
std::string DoubleText(double v);

/// "2021-02-03T04:05:06.789Z".
std::string IsoDateText(int64_t millis);

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
/// The number of code points.
size_t CountCodePoints(std::string_view text);
/// The byte at which the code point of that index starts; the end if there are fewer.
size_t CodePointOffset(std::string_view text, size_t index);
/// The code point that starts at `*at`, which is moved past it.
std::string_view NextCodePoint(std::string_view text, size_t* at);

}  // namespace braid::query
