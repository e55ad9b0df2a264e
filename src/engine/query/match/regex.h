// Regular expressions over strings, through PCRE2, with MongoDB's options; and the literal prefix that bounds an index
// scan.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"

struct pcre2_real_code_8;

namespace braid::query {

/// A compiled pattern. Immutable after Compile; any thread; move-only.
class CompiledRegex {
 public:
  /// Options i, m, s, x; u is accepted and has no effect (patterns are UTF-8 always). Another option Location(51108), a
  /// bad pattern Location(51091), a NUL byte in either kBadValue.
  static Result<CompiledRegex> Compile(std::string_view pattern, std::string_view options);

  /// True if the pattern matches somewhere in the text. An error if matching takes too many steps.
  Result<bool> Search(std::string_view text) const;

 private:
  struct Release {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::unique_ptr<pcre2_real_code_8, Release> code_;
};

/// The string every match starts with.
struct RegexPrefix {
  std::string literal;  // empty: nothing is known
  bool exact = false;   // every string with that prefix matches
};

/// Reads ^ or \A and the literal characters behind it. Nothing is known of case-insensitive patterns and of
/// alternatives.
RegexPrefix LiteralPrefix(std::string_view pattern, std::string_view options);

}  // namespace braid::query
