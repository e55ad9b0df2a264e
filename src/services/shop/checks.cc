#include "services/shop/checks.h"

#include <algorithm>

#include "base/strings.h"
#include "services/shop/refusal.h"

namespace braid::shop {
namespace {

constexpr std::string_view kGuestPrefix = "guest:";

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

Status CheckText(std::string_view name, std::string_view value, size_t bytes_max) {
  if (value.size() > bytes_max) {
    return Refuse(Refused::kBadRequest, StrCat(name, " has ", value.size(), " bytes; it may have ", bytes_max));
  }
  if (!IsUtf8(value) || value.find('\0') != std::string_view::npos) {
    return Refuse(Refused::kBadRequest, StrCat(name, " is not UTF-8 text without zero bytes"));
  }
  return {};
}

Status CheckId(std::string_view name, std::string_view value) {
  if (value.empty()) return Refuse(Refused::kBadRequest, StrCat(name, " is missing"));
  return CheckText(name, value, kIdBytesMax);
}

Status CheckOptionalId(std::string_view name, std::string_view value) {
  return value.empty() ? Status() : CheckId(name, value);
}

Status CheckOwner(const Owner& owner) {
  if (owner.user_id.empty() == owner.session_id.empty()) {
    return Refuse(Refused::kBadRequest, "give one of user_id and session_id");
  }
  if (owner.user_id.empty()) return CheckId("session_id", owner.session_id);
  if (owner.user_id.starts_with(kGuestPrefix)) {
    return Refuse(Refused::kBadRequest, StrCat("user_id may not start with \"", kGuestPrefix, "\": use session_id"));
  }
  return CheckId("user_id", owner.user_id);
}

Status CheckQuantity(int64_t qty, int64_t most) {
  if (qty >= 1 && qty <= most) return {};
  return Refuse(Refused::kBadQuantity, StrCat("qty is ", qty, "; it must be 1 to ", most));
}

Status CheckLimit(int64_t limit) {
  if (limit >= 1 && limit <= kPageMax) return {};
  return Refuse(Refused::kBadRequest, StrCat("limit is ", limit, "; it must be 1 to ", kPageMax));
}

Status CheckCurrency(std::string_view currency) {
  const bool good = currency.size() == 3 &&
                    std::all_of(currency.begin(), currency.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return good ? Status() : Refuse(Refused::kBadRequest, "currency must be three capital letters, such as RUB");
}

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
