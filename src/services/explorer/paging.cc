// The arguments of a query.
#include "services/explorer/queries.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::explorer {
namespace {

constexpr size_t kHashDigits = 64;
constexpr size_t kAddressDigits = 40;
constexpr int kHexadecimal = 16;
constexpr int64_t kPositionMax = int64_t{1} << 52;

bool IsLowerHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Empty if it is not 0x and so many digits.
std::string LowerHex(std::string_view text, size_t digits) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const bool right = lower.size() == digits + 2 && lower.starts_with("0x") &&
                     std::all_of(lower.begin() + 2, lower.end(), IsLowerHexDigit);
  return right ? lower : std::string();
}

// An argument may be of any length; an error shows its beginning.
std::string ShownArgument(std::string_view text) {
  constexpr size_t kShownMax = 80;
  if (text.size() <= kShownMax) return std::string(text);
  return StrCat(text.substr(0, kShownMax), "… (", text.size(), " bytes)");
}

Result<std::string> HexArgument(std::string_view name, const std::string& text, size_t digits) {
  std::string lower = LowerHex(text, digits);
  if (!lower.empty()) return lower;
  return Status(Code::kBadValue,
                StrCat(name, " '", ShownArgument(text), "' is not 0x and ", digits, " hexadecimal digits"));
}

Status BadCursor(const std::string& cursor) {
  return Status(Code::kBadValue,
                StrCat("the cursor '", ShownArgument(cursor), "' is not the `next` of a page of this list"));
}

bool IsOf(PagedList list, const std::string& cursor) {
  BRAID_ASSERT(!cursor.empty());
  return cursor.front() == static_cast<char>(list);
}

}  // namespace

Result<std::string> HashArgument(std::string_view name, const std::string& text) {
  return HexArgument(name, text, kHashDigits);
}

Result<std::string> OptionalHashArgument(std::string_view name, const std::string& text) {
  if (text.empty()) return std::string();
  return HexArgument(name, text, kHashDigits);
}

Result<std::string> AddressArgument(std::string_view name, const std::string& text) {
  return HexArgument(name, text, kAddressDigits);
}

std::string ToCursor(PagedList list, int64_t position) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), position, kHexadecimal).ptr;
  return StrCat(static_cast<char>(list), std::string_view(digits, static_cast<size_t>(end - digits)));
}

Result<std::optional<int64_t>> ParseCursor(PagedList list, const std::string& cursor) {
  if (cursor.empty()) return std::optional<int64_t>();
  if (!IsOf(list, cursor)) return BadCursor(cursor);
  int64_t position = 0;
  const char* end = cursor.data() + cursor.size();
  const auto [stopped, error] = std::from_chars(cursor.data() + 1, end, position, kHexadecimal);
  if (error != std::errc() || stopped != end || position < 0 || position > kPositionMax) {
    return BadCursor(cursor);
  }
  return std::optional(position);
}

std::string ToAddressCursor(PagedList list, const std::string& address) {
  return StrCat(static_cast<char>(list), std::string_view(address).substr(2));
}

Result<std::string> ParseAddressCursor(PagedList list, const std::string& cursor) {
  if (cursor.empty()) return std::string();
  if (!IsOf(list, cursor)) return BadCursor(cursor);
  std::string address = LowerHex(StrCat("0x", std::string_view(cursor).substr(1)), kAddressDigits);
  if (address.empty()) return BadCursor(cursor);
  return address;
}

Status CheckPageLimit(int64_t limit) {
  if (limit >= 1 && limit <= kRowsMax) return {};
  return Status(Code::kBadValue, StrCat("a page has 1 to ", kRowsMax, " rows, not ", limit));
}

}  // namespace braid::explorer
