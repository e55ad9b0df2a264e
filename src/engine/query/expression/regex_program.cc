// Patterns are compiled as UTF-8, without leave to switch that off from inside.
#include "engine/query/expression/regex_program.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/strings.h"

namespace braid::query {
namespace {

pcre2_code* Code(void* code) { return static_cast<pcre2_code*>(code); }

std::string Message(int error) {
  PCRE2_UCHAR8 text[256];
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

Result<std::shared_ptr<const RegexProgram>> RegexProgram::Compile(std::string_view pattern, std::string_view options) {
  uint32_t flags = PCRE2_UTF;
  for (char c : options) {
    switch (c) {
      case 'i': flags |= PCRE2_CASELESS; break;
      case 'm': flags |= PCRE2_MULTILINE; break;
      case 's': flags |= PCRE2_DOTALL; break;
      case 'x': flags |= PCRE2_EXTENDED; break;
      case 'u': break;  // always
      default: return Status(Location(51108), StrCat("invalid flag in regex options: ", c));
    }
  }
  int error = 0;
  size_t at = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), flags, &error, &at, nullptr);
  if (code == nullptr) return Status(Location(51111), StrCat("Regular expression is invalid: ", Message(error)));
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it cannot, matching is interpreted
  return std::shared_ptr<const RegexProgram>(new RegexProgram(code));
}

RegexProgram::~RegexProgram() { pcre2_code_free(Code(code_)); }

Result<std::vector<RegexProgram::Range>> RegexProgram::Match(std::string_view text, size_t from) const {
  std::unique_ptr<pcre2_match_data, FreeMatch> data(pcre2_match_data_create_from_pattern(Code(code_), nullptr));
  const int count =
      pcre2_match(Code(code_), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), from, 0, data.get(), nullptr);
  if (count == PCRE2_ERROR_NOMATCH) return std::vector<Range>();
  if (count < 0)
    return Status(Location(51156), StrCat("Error occurred while executing the regular expression: ", Message(count)));
  std::vector<Range> ranges(pcre2_get_ovector_count(data.get()));
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data.get());
  for (size_t i = 0; i < ranges.size() && i < static_cast<size_t>(count); ++i) {
    if (offsets[2 * i] != PCRE2_UNSET) ranges[i] = {offsets[2 * i], offsets[2 * i + 1]};
  }
  return ranges;
}

}  // namespace braid::query
