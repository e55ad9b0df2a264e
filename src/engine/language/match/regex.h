// Regular expressions of filters and schemas, and the literal prefix that bounds an index scan.
#pragma once

#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/language/expression/regex_pattern.h"

namespace braid::query {

/// Options as RegexPattern's. Location(51091) for a bad pattern, kBadValue for one that is too long and for a NUL byte
/// in either.
Result<RegexPtr> CompileRegex(std::string_view pattern, std::string_view options);

/// The string every match starts with.
struct RegexPrefix {
  std::string literal;  // empty: nothing is known
  bool exact = false;   // every string with that prefix matches
};

/// Reads ^ or \A and the literal characters behind it. Nothing is known of case-insensitive patterns and of
/// alternatives.
RegexPrefix LiteralPrefix(std::string_view pattern, std::string_view options);

}  // namespace braid::query
