// Where a page ended: the last row's sort value and _id, as an opaque text. The next page starts behind it by value, so
// it costs the same however far it is, and changes in between neither repeat nor skip a row that stayed where it was.
#pragma once

#include <optional>
#include <string>

#include "braid/status.h"

namespace braid::shop {

struct PageEnd {
  std::string kind;  // of the list, so that a token of another list is refused
  std::string value;
  std::string id;
};

std::string ToToken(const PageEnd& end);

/// Nothing for an empty token. Refused::kBadRequest if it is not one of this kind.
Result<std::optional<PageEnd>> ParseToken(const std::string& token, const std::string& kind);

}  // namespace braid::shop
