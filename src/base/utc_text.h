// A time as JSON and people have it.
#pragma once

#include <cstdint>
#include <string>

namespace braid {

/// "2024-05-01T12:00:00.250Z" of milliseconds since 1970. What a store says may be any number: times before the year 1
/// and after the year 9999 are its first and its last moment.
std::string UtcText(int64_t millis);

}  // namespace braid
