// RegexProgram: a compiled regular expression (PCRE2), matched over UTF-8 text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace braid::query {

/// Immutable after construction; any thread.
class RegexProgram {
 public:
  /// Options out of "imsxu". Location(51108) for others, Location(51111) for a pattern that does not compile.
  static Result<std::shared_ptr<const RegexProgram>> Compile(std::string_view pattern, std::string_view options);
  RegexProgram(const RegexProgram&) = delete;
  RegexProgram& operator=(const RegexProgram&) = delete;
  ~RegexProgram();

  /// Byte ranges of the match and of its groups; start > end for a group that took no part.
  struct Range {
    size_t start = 1;
    size_t end = 0;
    bool matched() const { return start <= end; }
  };
  /// The first match at or after `from`: [0] the whole, then the groups; empty if there is none. Location(51156) if
  /// matching fails.
  Result<std::vector<Range>> Match(std::string_view text, size_t from) const;

 private:
  explicit RegexProgram(void* code) : code_(code) {}
  void* code_;  // pcre2_code
};

}  // namespace braid::query
