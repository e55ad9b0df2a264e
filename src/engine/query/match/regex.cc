#include "engine/query/match/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/strings.h"

namespace braid::query {

namespace {

constexpr size_t kPatternBytesMax = 32764;

Result<uint32_t> Flags(std::string_view options) {
  uint32_t flags = PCRE2_UTF;
  for (char option : options) {
    switch (option) {
      case 'i': flags |= PCRE2_CASELESS; break;
      case 'm': flags |= PCRE2_MULTILINE; break;
      case 's': flags |= PCRE2_DOTALL; break;
      case 'u': break;
      case 'x': flags |= PCRE2_EXTENDED; break;
      default: return Status(Location(51108), StrCat("invalid flag in regex options: ", option));
    }
  }
  return flags;
}

// Where a match is written; one a thread, as only yes or no is asked.
pcre2_match_data* Scratch() {
  struct Release {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  thread_local const std::unique_ptr<pcre2_match_data, Release> data(pcre2_match_data_create(1, nullptr));
  return data.get();
}

std::string MessageOf(int error) {
  PCRE2_UCHAR buffer[256] = {};
  pcre2_get_error_message(error, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

// Removes the last character, which may be several bytes of UTF-8.
void DropLast(std::string* text) {
  while (!text->empty() && (static_cast<unsigned char>(text->back()) & 0xC0) == 0x80) text->pop_back();
  if (!text->empty()) text->pop_back();
}

bool IsAlphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

void CompiledRegex::Release::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Result<CompiledRegex> CompiledRegex::Compile(std::string_view pattern, std::string_view options) {
  constexpr auto npos = std::string_view::npos;
  if (pattern.find('\0') != npos) {
    return Status(Code::kBadValue, "Regular expression cannot contain an embedded null byte");
  }
  if (options.find('\0') != npos) {
    return Status(Code::kBadValue, "Regular expression options string cannot contain an embedded null byte");
  }
  if (pattern.size() > kPatternBytesMax) return Status(Code::kBadValue, "Regular expression is too long");
  BRAID_TRY(const uint32_t flags, Flags(options));
  int error = 0;
  PCRE2_SIZE offset = 0;
  CompiledRegex regex;
  regex.code_.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), flags, &error, &offset, nullptr));
  if (regex.code_ == nullptr)
    return Status(Location(51091), StrCat("Regular expression is invalid: ", MessageOf(error)));
  pcre2_jit_compile(regex.code_.get(), PCRE2_JIT_COMPLETE);  // without it matching is slower, not wrong
  return regex;
}

Result<bool> CompiledRegex::Search(std::string_view text) const {
  const int answer =
      pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, Scratch(), nullptr);
  if (answer >= 0) return true;
  // Text that is not UTF-8 is not matched by any pattern.
  if (answer == PCRE2_ERROR_NOMATCH || (answer <= PCRE2_ERROR_UTF8_ERR1 && answer >= PCRE2_ERROR_UTF8_ERR21))
    return false;
  return Status(Location(51156), StrCat("Error occurred while executing regular expression: ", MessageOf(answer)));
}

RegexPrefix LiteralPrefix(std::string_view pattern, std::string_view options) {
  bool any_line = false;
  if (pattern.starts_with("\\A")) {
    pattern.remove_prefix(2);
    any_line = true;  // \A is the start of the text with the option m too
  } else if (pattern.starts_with("^")) {
    pattern.remove_prefix(1);
  } else {
    return {};
  }
  if (pattern.find('|') != std::string_view::npos) return {};
  bool extended = false;
  for (char option : options) {
    if (option == 'i' || (option == 'm' && !any_line)) return {};
    extended |= option == 'x';
  }

  RegexPrefix prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*' || c == '?' || c == '{') {  // makes the character before it optional
      DropLast(&prefix.literal);
      return prefix;
    }
    if (c == '\\') {
      const char next = ++i < pattern.size() ? pattern[i] : '\0';
      if (next == 'Q') {
        const size_t end = pattern.find("\\E", i + 1);
        prefix.literal.append(pattern.substr(i + 1, end == std::string_view::npos ? end : end - i - 1));
        i = end == std::string_view::npos ? pattern.size() : end + 1;
      } else if (next == '\0' || IsAlphanumeric(next)) {
        return prefix;
      } else {
        prefix.literal.push_back(next);
      }
    } else if (std::string_view("^$.[()+").find(c) != std::string_view::npos || (extended && c == '#')) {
      return prefix;
    } else if (!extended || !IsSpace(c)) {
      prefix.literal.push_back(c);
    }
  }
  prefix.exact = !prefix.literal.empty();
  return prefix;
}

}  // namespace braid::query
