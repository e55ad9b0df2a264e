// RegexPattern: a compiled regular expression (PCRE2) over UTF-8 text, whose searches end when their request has to
// end. The only user of PCRE2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/status.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace braid::query {

/// A text in which several matches are looked for, one after another.
struct RegexText {
  std::string_view text;
  bool valid_utf8 = false;  // known from an earlier search
};

/// Immutable; any thread.
class RegexPattern {
 public:
  /// Options i, m, s, x; u is accepted and has no effect, since patterns are always UTF-8. Location(51108) for another
  /// option, `invalid` for a pattern that does not compile.
  static Result<std::unique_ptr<const RegexPattern>> Compile(std::string_view pattern, std::string_view options,
                                                             Code invalid);

  /// True if the pattern matches somewhere in the text, which it never does if that is not UTF-8. Location(51156) if
  /// matching takes too many steps.
  Result<bool> Search(std::string_view text) const;

  /// Byte ranges of a match and of its groups; start > end for a group that took no part.
  struct Range {
    size_t start = 1;
    size_t end = 0;
    bool matched() const { return start <= end; }
  };
  /// The first match at or after `from`: [0] the whole, then the groups; empty if there is none. Location(51156) if
  /// matching fails.
  Result<std::vector<Range>> Match(RegexText& text, size_t from) const;

 private:
  struct Release {
    void operator()(pcre2_real_code_8* code) const;
  };
  using CodePtr = std::unique_ptr<pcre2_real_code_8, Release>;
  RegexPattern(std::string_view pattern, uint32_t flags, CodePtr quick)
      : pattern_(pattern), flags_(flags), quick_(std::move(quick)) {}
  static CodePtr CompileCode(std::string_view pattern, uint32_t flags, int* error);
  /// Asks before every item of the pattern whether to go on. Compiled when it is first needed; null if that fails.
  const pcre2_real_code_8* careful() const;
  /// True if there is a match at or after `from`, which is stored in `match`. kInvalidBSON if the text is not UTF-8. A
  /// search tries one start after another. Each attempt may take a few steps with the quick code, which cannot be
  /// interrupted; if they are not enough, the attempt is restarted with the careful code and PCRE2's own limit.
  Result<bool> Find(RegexText& text, size_t from, pcre2_real_match_data_8* match) const;

  const std::string pattern_;
  const uint32_t flags_;
  const CodePtr quick_;  // asks at the start of every attempt whether to go on
  mutable std::once_flag once_;
  mutable CodePtr careful_;
};
using RegexPtr = std::unique_ptr<const RegexPattern>;

}  // namespace braid::query
