// Checks of a caller's arguments, each with a refusal that names the field. The length of ids is limited so that
// indexes stay small. A page token is such an argument, too: it says where the previous page ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "services/shop/shop.h"

namespace braid::shop {

/// 1 to kIdBytesMax bytes of UTF-8 without a zero byte.
Status CheckId(std::string_view name, std::string_view value);
/// As CheckId(), or empty.
Status CheckOptionalId(std::string_view name, std::string_view value);
/// At most `bytes_max` bytes of UTF-8 without a zero byte.
Status CheckText(std::string_view name, std::string_view value, size_t bytes_max);
/// One of user_id and session_id. A user's may not look like a guest's ("guest:…"), whose orders it would own.
Status CheckOwner(const Owner& owner);
/// 1 to `most`; Refused::kBadQuantity.
Status CheckQuantity(int64_t qty, int64_t most);
/// 1 to kPageMax rows.
Status CheckLimit(int64_t limit);
/// Three capital letters.
Status CheckCurrency(std::string_view currency);

/// Where a page ended: the last row's sort value and _id, as an opaque text. The next page starts behind it by value,
/// so it costs the same however far it is, and changes in between neither repeat nor skip a row that stayed where it
/// was.
struct PageEnd {
  std::string kind;  // of the list, so that a token of another list is refused
  std::string value;
  std::string id;
};

std::string ToToken(const PageEnd& end);

/// Nothing for an empty token. Refused::kBadRequest if it is not one of this kind.
Result<std::optional<PageEnd>> ParseToken(const std::string& token, const std::string& kind);

}  // namespace braid::shop
