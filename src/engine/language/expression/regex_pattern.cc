// Compiling with callouts, and searching in attempts that can be interrupted.
#include "engine/language/expression/regex_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/strings.h"
#include "base/work.h"

namespace braid::query {
namespace {

constexpr uint32_t kStepsMax = 10'000'000;  // PCRE2's default

std::string RegexMessage(int error) {
  PCRE2_UCHAR8 text[256] = {};
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

struct Attempt {
  Work& work;
  size_t start;          // where in the text it began
  bool careful = false;  // the next one is to begin with the quick code again
};

int MayGoOn(pcre2_callout_block* block, void* data) {
  auto& attempt = *static_cast<Attempt*>(data);
  const bool over = attempt.careful && block->start_match != attempt.start;
  attempt.start = block->start_match;
  return !over && attempt.work.GoesOn() ? 0 : PCRE2_ERROR_CALLOUT;
}

// How long the verbs are that have to stand at the start of a pattern, like (*ANYCRLF).
size_t VerbsAt(std::string_view pattern) {
  size_t size = 0;
  while (pattern.substr(size).starts_with("(*")) {
    size_t end = size + 2;
    const auto in_verb = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '=';
    };
    while (end < pattern.size() && in_verb(pattern[end])) ++end;
    if (end == pattern.size() || pattern[end] != ')') break;
    size = end + 1;
  }
  return size;
}

// Patterns are compiled as UTF-8, and options within them cannot switch that off.
Result<uint32_t> FlagsOf(std::string_view options) {
  uint32_t flags = PCRE2_UTF;
  for (const char option : options) {
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

/// An object that is costly to make, one per thread. Takes the thread's spare object, or makes one, and returns it to
/// the thread in the destructor. The taker owns it: work that gives way in the middle (base/fiber.h) may end on another
/// thread, while this one works on something else.
template <typename T, typename Deleter>
class Spare {
 public:
  using Owner = std::unique_ptr<T, Deleter>;

  template <typename Make>
  explicit Spare(const Make& make) : held_(Exchange(nullptr)) {
    if (held_ == nullptr) held_.reset(make());
  }
  ~Spare() { Exchange(std::move(held_)); }
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;

  T* get() const { return held_.get(); }

 private:
  // Not inlined: the destructor may run on another thread, where the variable has another address.
  [[gnu::noinline]] static Owner Exchange(Owner next) {
    thread_local Owner spare;
    return std::exchange(spare, std::move(next));
  }

  Owner held_;
};

struct ReleaseMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

struct ReleaseContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

// A step may read the whole text, so a long text allows only a few steps.
uint32_t QuickSteps(size_t size) {
  constexpr size_t kBytes = 1 << 26;
  return static_cast<uint32_t>(std::clamp<size_t>(kBytes / (size + 1), 16, 1 << 17));
}

}  // namespace

void RegexPattern::Release::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

RegexPattern::CodePtr RegexPattern::CompileCode(std::string_view pattern, uint32_t flags, int* error) {
  PCRE2_SIZE offset = 0;
  CodePtr code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), flags, error, &offset, nullptr));
  if (code != nullptr) pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // without it matching is slower, not wrong
  return code;
}

Result<RegexPtr> RegexPattern::Compile(std::string_view pattern, std::string_view options, Code invalid) {
  BRAID_TRY(const uint32_t flags, FlagsOf(options));
  std::string with_callout(pattern);
  const size_t verbs = VerbsAt(pattern);
  BRAID_ASSERT(verbs <= pattern.size());
  with_callout.insert(verbs, "(?C1)");
  int error = 0;
  CodePtr quick = CompileCode(with_callout, flags, &error);
  if (quick == nullptr) return Status(invalid, StrCat("Regular expression is invalid: ", RegexMessage(error)));
  return RegexPtr(new RegexPattern(pattern, flags, std::move(quick)));
}

const pcre2_real_code_8* RegexPattern::careful() const {
  std::call_once(once_, [this] {
    int error = 0;
    careful_ = CompileCode(pattern_, flags_ | PCRE2_AUTO_CALLOUT, &error);
  });
  return careful_.get();
}

Result<bool> RegexPattern::Find(RegexText& in, size_t from, pcre2_real_match_data_8* match) const {
  const std::string_view text = in.text;
  BRAID_ASSERT(from <= text.size());
  const Spare<pcre2_match_context, ReleaseContext> context([] { return pcre2_match_context_create(nullptr); });
  Attempt attempt{Work::Current(), from};
  BRAID_CHECK_OK(attempt.work.Tick(in.valid_utf8 ? 1 : StepsFor(text.size())));
  pcre2_set_callout(context.get(), MayGoOn, &attempt);
  while (true) {
    pcre2_set_match_limit(context.get(), attempt.careful ? kStepsMax : QuickSteps(text.size()));
    const pcre2_real_code_8* const code = attempt.careful ? careful() : quick_.get();
    const int answer = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), attempt.start,
                                   in.valid_utf8 ? PCRE2_NO_UTF_CHECK : 0, match, context.get());
    if (answer <= PCRE2_ERROR_UTF8_ERR1 && answer >= PCRE2_ERROR_UTF8_ERR21) {
      return Status(Code::kInvalidBSON, RegexMessage(answer));
    }
    in.valid_utf8 = true;
    if (answer >= 0 || answer == PCRE2_ERROR_NOMATCH) return answer >= 0;
    if (answer == PCRE2_ERROR_CALLOUT) {
      BRAID_CHECK_OK(attempt.work.Tick());
      attempt.careful = false;
    } else if (answer == PCRE2_ERROR_MATCHLIMIT && !attempt.careful && careful() != nullptr) {
      attempt.careful = true;
    } else {
      return Status(Location(51156),
                    StrCat("Error occurred while executing the regular expression: ", RegexMessage(answer)));
    }
  }
}

Result<bool> RegexPattern::Search(std::string_view text) const {
  RegexText in{.text = text};
  // The place of the match is written here; only yes or no is asked, so any place will do.
  const Spare<pcre2_match_data, ReleaseMatch> match([] { return pcre2_match_data_create(1, nullptr); });
  Result<bool> found = Find(in, 0, match.get());
  if (!found.ok() && found.error().code() == Code::kInvalidBSON) return false;
  return found;
}

Result<std::vector<RegexPattern::Range>> RegexPattern::Match(RegexText& text, size_t from) const {
  const std::unique_ptr<pcre2_match_data, ReleaseMatch> data(
      pcre2_match_data_create_from_pattern(quick_.get(), nullptr));
  const Result<bool> found = Find(text, from, data.get());
  if (!found.ok() && found.error().code() == Code::kInvalidBSON) {
    return Status(Location(51156),
                  StrCat("Error occurred while executing the regular expression: ", found.error().message()));
  }
  if (!found.ok()) return found.error();
  if (!*found) return std::vector<Range>();
  std::vector<Range> ranges(pcre2_get_ovector_count(data.get()));
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data.get());
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (offsets[2 * i] != PCRE2_UNSET) ranges[i] = {offsets[2 * i], offsets[2 * i + 1]};
  }
  return ranges;
}

}  // namespace braid::query
