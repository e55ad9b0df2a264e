// Checks of what a caller gives, each with the refusal that names the field. No id is long enough to hurt an index.
#pragma once

#include <cstdint>
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

}  // namespace braid::shop
