#include "base/strings.h"

#include <time.h>

#include <algorithm>
#include <string_view>

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

constexpr int64_t kMillisOfYear1 = -62'135'596'800'000;
constexpr int64_t kMillisOf9999 = 253'402'300'799'999;

}  // namespace

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

std::string UtcText(int64_t millis) {
  const int64_t known = std::clamp(millis, kMillisOfYear1, kMillisOf9999);
  const int64_t rest = (known % 1000 + 1000) % 1000;
  const time_t seconds = (known - rest) / 1000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  const std::string year = StrCat(parts.tm_year + 1900 + 10'000);  // strftime does not pad it
  char text[32];
  const size_t size = strftime(text, sizeof(text), "-%m-%dT%H:%M:%S", &parts);
  const std::string thousandths = StrCat(rest + 1000);
  return StrCat(std::string_view(year).substr(1), std::string_view(text, size), ".",
                std::string_view(thousandths).substr(1), "Z");
}

}  // namespace braid
