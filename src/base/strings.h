// Small helpers on strings. What fmt does is left to fmt.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace braid {

/// The arguments one after another, each as fmt prints it.
template <typename... Args>
std::string StrCat(const Args&... args) {
  fmt::memory_buffer buffer;
  (fmt::format_to(std::back_inserter(buffer), "{}", args), ...);
  return fmt::to_string(buffer);
}

/// Lower-case hexadecimal of raw bytes.
std::string Hex(std::string_view bytes);

/// The parts of `text` between `separator`s; at least one part.
std::vector<std::string_view> Split(std::string_view text, char separator);

/// True if `text` is well-formed UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace braid
