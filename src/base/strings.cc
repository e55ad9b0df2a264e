#include "base/strings.h"

namespace braid {

Piece::Piece(double value) {
  const auto end = std::to_chars(digits_, digits_ + sizeof(digits_), value).ptr;
  text_ = std::string_view(digits_, static_cast<size_t>(end - digits_));
}

std::string internal::Concatenate(std::initializer_list<std::string_view> texts) {
  size_t size = 0;
  for (std::string_view text : texts) size += text.size();
  std::string out;
  out.reserve(size);
  for (std::string_view text : texts) out.append(text);
  return out;
}

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

bool IsUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    const auto second = static_cast<unsigned char>(text[i + 1]);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||  // overlong, surrogates
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {  // overlong, past U+10FFFF
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace braid
