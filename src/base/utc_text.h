// A time as text, as JSON and people write it.
#pragma once

#include <cstdint>
#include <string>

namespace braid {

/// "2024-05-01T12:00:00.250Z" of milliseconds since 1970. A stored time may be any number: times before the year 1 are
/// shown as the first moment of that year, times after the year 9999 as the last moment of that one.
std::string UtcText(int64_t millis);

}  // namespace braid
