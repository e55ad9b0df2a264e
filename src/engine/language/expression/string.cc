// $concat, $toUpper, $toLower, $strcasecmp, $strLenBytes, $strLenCP, $substrBytes ($substr), $substrCP.
#include <algorithm>

#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/text.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

// Only ASCII letters change.
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Change>
Result<Value> Changed(const Call& call, Change change) {
  BRAID_TRY(std::string_view text, CoerceToString(call[0], call.arena()));
  return MakeString(call.arena(), text.size(), [&](char* at) { std::ranges::transform(text, at, change); });
}

Result<int32_t> CodePointOperand(const Call& call, size_t i) {
  const bool start = i == 1;
  const std::string_view what = start ? "starting index" : "length";
  if (!call[i].IsNumber()) {
    return CallError(start ? 34450 : 34452, call.name, ": ", what, " must be a numeric type (is BSON type ",
                     TypeOf(call[i]), ")");
  }
  const std::optional<int32_t> exact = ExactInt32(call[i]);
  if (!exact)
    return CallError(start ? 34451 : 34453, call.name, ": ", what, " cannot be represented as a 32-bit integral value");
  if (*exact < 0) return CallError(start ? 34455 : 34454, call.name, ": ", what, " must be a nonnegative integer.");
  return *exact;
}

}  // namespace

Result<Value> Concat(const Call& call) {
  size_t size = 0;
  for (const Value& arg : call.args) {
    if (arg.IsNullish()) return call.arena().Null();
    if (!arg.Is(Type::kString)) return CallError(16702, "$concat only supports strings, not ", TypeOf(arg));
    size += arg.AsString().size();
  }
  return MakeString(call.arena(), size, [&](char* at) {
    for (const Value& arg : call.args) at = std::ranges::copy(arg.AsString(), at).out;
  });
}

Result<Value> ToUpper(const Call& call) { return Changed(call, Upper); }
Result<Value> ToLower(const Call& call) { return Changed(call, Lower); }

Result<Value> StrCaseCmp(const Call& call) {
  BRAID_TRY(std::string_view a, CoerceToString(call[0], call.arena()));
  BRAID_TRY(std::string_view b, CoerceToString(call[1], call.arena()));
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto x = static_cast<unsigned char>(Upper(a[i]));
    const auto y = static_cast<unsigned char>(Upper(b[i]));
    if (x != y) return call.arena().Int32(x < y ? -1 : 1);
  }
  return call.arena().Int32((a.size() > b.size()) - (a.size() < b.size()));
}

Result<Value> StrLenBytes(const Call& call) {
  if (!call[0].Is(Type::kString)) {
    return CallError(34473, "$strLenBytes requires a string argument, found: ", TypeOf(call[0]));
  }
  return call.arena().Int32(static_cast<int32_t>(call[0].AsString().size()));
}

Result<Value> StrLenCp(const Call& call) {
  if (!call[0].Is(Type::kString))
    return CallError(34471, "$strLenCP requires a string argument, found: ", TypeOf(call[0]));
  return call.arena().Int32(static_cast<int32_t>(CountCodePoints(call[0].AsString())));
}

Result<Value> SubstrBytes(const Call& call) {
  BRAID_TRY(std::string_view text, CoerceToString(call[0], call.arena()));
  if (!call[1].IsNumber())
    return CallError(16034, call.name, ": starting index must be a numeric type (is BSON type ", TypeOf(call[1]), ")");
  if (!call[2].IsNumber())
    return CallError(16035, call.name, ": length must be a numeric type (is BSON type ", TypeOf(call[2]), ")");
  const int64_t start = bson::Number::Of(call[1]).ToInt64Clamped();
  const int64_t length = bson::Number::Of(call[2]).ToInt64Clamped();
  if (start < 0) return CallError(50752, call.name, ": starting index must be non-negative (got: ", start, ")");
  const auto size = static_cast<int64_t>(text.size());
  if (start < size && IsContinuationByte(text[start])) {
    return CallError(28656, call.name, ": Invalid range, starting index is a UTF-8 continuation byte.");
  }
  if (start >= size) return call.arena().String("");
  const int64_t end = length < 0 || length > size - start ? size : start + length;
  if (end < size && IsContinuationByte(text[end])) {
    return CallError(28657, call.name, ": Invalid range, ending index is in the middle of a UTF-8 character.");
  }
  return call.arena().String(text.substr(start, end - start));
}

Result<Value> SubstrCp(const Call& call) {
  BRAID_TRY(std::string_view text, CoerceToString(call[0], call.arena()));
  BRAID_TRY(const int32_t start, CodePointOperand(call, 1));
  BRAID_TRY(const int32_t length, CodePointOperand(call, 2));
  text.remove_prefix(CodePointOffset(text, start));
  return call.arena().String(text.substr(0, CodePointOffset(text, length)));
}

}  // namespace braid::query::functions
