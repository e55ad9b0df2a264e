// $indexOfBytes, $indexOfCP, $split, $replaceOne, $replaceAll: plain substrings, by bytes.
#include <algorithm>

#include "base/assert.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/text.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

constexpr NamedOperand kReplace[] = {{"input", 51749}, {"find", 51748}, {"replacement", 51747}};

struct Texts {
  std::string_view text;
  std::string_view token;
};

Result<Texts> SearchOperands(const Call& call, int text_code, int token_code) {
  if (!call[0].Is(Type::kString)) {
    return CallError(text_code, call.name, " requires a string as the first argument, found: ", TypeOf(call[0]));
  }
  if (!call[1].Is(Type::kString)) {
    return CallError(token_code, call.name, " requires a string as the second argument, found: ", TypeOf(call[1]));
  }
  return Texts{call[0].AsString(), call[1].AsString()};
}

Result<Value> Replace(const Call& call, bool all) {
  constexpr int kCodes[] = {51746, 51745, 51744};
  bool nothing = false;
  for (size_t i = 0; i < 3; ++i) {
    nothing = nothing || call[i].IsNullish();
    if (!call[i].IsNullish() && !call[i].Is(Type::kString)) {
      return CallError(kCodes[i], call.name, " requires that '", kReplace[i].name,
                       "' be a string, found: ", TypeOf(call[i]));
    }
  }
  if (nothing) return call.arena().Null();
  const std::string_view input = call[0].AsString();
  const std::string_view find = call[1].AsString();
  const std::string_view replacement = call[2].AsString();
  if (find.empty() && !all) return call.arena().String(StrCat(replacement, input));
  HeldMemory held;
  std::string result;
  size_t at = 0;
  const auto append = [&](std::string_view kept) -> Status {
    const size_t size = result.size() + kept.size() + replacement.size();
    if (size > result.capacity()) {
      BRAID_CHECK_OK(held.Set(2 * size));
      result.reserve(2 * size);
    }
    result.append(kept).append(replacement);
    return call.work().Tick();
  };
  if (find.empty()) {  // the replacement goes before every character and at the end
    BRAID_CHECK_OK(append({}));
    while (at < input.size()) BRAID_CHECK_OK(append(NextCodePoint(input, &at)));
    return call.arena().String(result);
  }
  for (size_t hit = FindText(input, find, 0); hit != std::string_view::npos; hit = FindText(input, find, at)) {
    BRAID_ASSERT(hit >= at);  // matches do not overlap
    BRAID_CHECK_OK(append(input.substr(at, hit - at)));
    at = hit + find.size();
    if (!all) break;
  }
  return call.arena().String(result.append(input.substr(at)));
}

}  // namespace

const NamedOperands kReplaceOperands = {51751, 51750, kReplace};

Result<Value> ReplaceOne(const Call& call) { return Replace(call, false); }
Result<Value> ReplaceAll(const Call& call) { return Replace(call, true); }

Result<Value> IndexOfBytes(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  BRAID_TRY(Texts texts, SearchOperands(call, 40091, 40092));
  BRAID_TRY(IndexRange range, IndexRangeOf(call));
  const int64_t end = std::min<int64_t>(range.end, static_cast<int64_t>(texts.text.size()));
  if (range.start > static_cast<int64_t>(texts.text.size()) || end < range.start) return call.arena().Int32(-1);
  const size_t found = FindText(texts.text.substr(0, end), texts.token, range.start);
  return call.arena().Int32(found == std::string_view::npos ? -1 : static_cast<int32_t>(found));
}

Result<Value> IndexOfCp(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  BRAID_TRY(Texts texts, SearchOperands(call, 40093, 40094));
  BRAID_TRY(IndexRange range, IndexRangeOf(call));
  const auto count = static_cast<int64_t>(CountCodePoints(texts.text));
  const int64_t end = std::min(range.end, count);
  if (range.start > count || end < range.start) return call.arena().Int32(-1);
  const size_t found = FindText(texts.text.substr(0, CodePointOffset(texts.text, end)), texts.token,
                                CodePointOffset(texts.text, range.start));
  if (found == std::string_view::npos) return call.arena().Int32(-1);
  return call.arena().Int32(static_cast<int32_t>(CountCodePoints(texts.text.substr(0, found))));
}

Result<Value> SplitString(const Call& call) {
  if (call.AnyNullish()) return call.arena().Null();
  BRAID_TRY(Texts texts, SearchOperands(call, 40085, 40086));
  if (texts.token.empty()) return CallError(40087, "$split requires a non-empty separator");
  Values parts;
  size_t at = 0;
  for (size_t hit; (hit = FindText(texts.text, texts.token, at)) != std::string_view::npos;
       at = hit + texts.token.size()) {
    BRAID_CHECK_OK(call.work().Tick());
    parts.push_back(call.arena().String(texts.text.substr(at, hit - at)));
  }
  parts.push_back(call.arena().String(texts.text.substr(at)));
  return MakeArray(call.arena(), parts);
}

}  // namespace braid::query::functions
