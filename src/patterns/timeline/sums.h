// Integers of any size, as decimal text: how running sums are stored and computed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace braid::timeline {

/// a + b and a - b; nothing if one of them is not an integer in decimal, with an optional minus.
std::optional<std::string> AddDecimals(std::string_view a, std::string_view b);
std::optional<std::string> SubtractDecimals(std::string_view a, std::string_view b);

}  // namespace braid::timeline
