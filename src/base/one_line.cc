#include "base/one_line.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"

namespace braid {
namespace {

void AppendEscaped(std::string& out, unsigned char byte) {
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else if (byte == '\r') {
    out += "\\r";
  } else {
    out += StrCat("\\x", Hex(std::string_view(reinterpret_cast<const char*>(&byte), 1)));
  }
}

}  // namespace

std::string OneLine(std::string text) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::string_view character = std::string_view(text).substr(i, length);
    // C2 80 to C2 9F are the control characters of Latin-1, which some terminals obey.
    const bool is_control =
        lead == 0xC2 && length == character.size() && static_cast<unsigned char>(character[1]) < 0xA0;
    if (plain(text[i]) || (lead >= 0x80 && IsUtf8(character) && !is_control)) {
      out += character;
      i += character.size();
    } else {
      AppendEscaped(out, lead);
      ++i;
    }
  }
  return out;
}

}  // namespace braid
