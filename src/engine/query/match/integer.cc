#include "engine/query/match/integer.h"

#include <cmath>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"

namespace braid::query {

Result<int64_t> NonNegativeInteger(std::string_view name, const bson::Value& value) {
  const auto fail = [&](std::string_view what) {
    return Status(Code::kFailedToParse, StrCat(what, name, ": ", bson::ToShell(value)));
  };
  const auto number = bson::NumberOf(value);
  if (!number) return fail("Expected a number in: ");
  const auto integer = number->ToInt64Exact();
  if (!integer) {
    const double approximate = number->ToDouble();
    const bool fits = approximate >= -0x1p63 && approximate < 0x1p63;
    return fail(fits ? "Expected an integer: " : "Cannot represent as a 64-bit integer: ");
  }
  if (*integer < 0) return fail("Expected a non-negative number in: ");
  return *integer;
}

}  // namespace braid::query
