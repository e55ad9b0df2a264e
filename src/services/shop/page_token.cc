#include "services/shop/page_token.h"

#include <algorithm>

#include "base/strings.h"
#include "services/shop/refusal.h"

namespace braid::shop {
namespace {

constexpr size_t kTokenBytesMax = 4096;
constexpr char kBetween = '\0';  // in none of the parts

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Nothing if it is not hexadecimal.
std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() % 2 != 0 || text.size() > kTokenBytesMax) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

std::string ToToken(const PageEnd& end) { return Hex(StrCat(end.kind, kBetween, end.value, kBetween, end.id)); }

Result<std::optional<PageEnd>> ParseToken(const std::string& token, const std::string& kind) {
  if (token.empty()) return std::optional<PageEnd>();
  if (const auto bytes = FromHex(token)) {
    const auto parts = Split(*bytes, kBetween);
    if (parts.size() == 3 && parts[0] == kind && IsUtf8(*bytes)) {
      return std::optional(PageEnd{std::string(parts[0]), std::string(parts[1]), std::string(parts[2])});
    }
  }
  return Refuse(Refused::kBadRequest, "`after` is not the `next` of a page of this list");
}

}  // namespace braid::shop
