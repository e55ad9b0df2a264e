#include "services/shop/checks.h"

#include <algorithm>

#include "base/strings.h"

namespace braid::shop {
namespace {

constexpr std::string_view kGuestPrefix = "guest:";

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

}  // namespace braid::shop
