// $slice of find: a part of an array, {$slice: n} or {$slice: [skip, n]}.
#include "engine/language/project/projection_node.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/number.h"

namespace braid::query {
namespace {

int32_t ToInt32Clamped(const bson::Value& number) {
  using Limits = std::numeric_limits<int32_t>;
  const int64_t value = bson::Number::Of(number).ToInt64Clamped();
  return static_cast<int32_t>(std::clamp<int64_t>(value, Limits::min(), Limits::max()));
}

}  // namespace

Result<SliceRange> ParseSlice(const bson::Value& argument) {
  if (argument.IsNumber()) return SliceRange{.skip = std::nullopt, .limit = ToInt32Clamped(argument)};
  if (!argument.Is(bson::Type::kArray))
    return Status(Location(31273), "$slice takes a number or an array [skip, limit]");

  const bson::View pair = argument.AsView();
  if (pair.Count() != 2) return Status(Location(31272), "$slice with an array takes exactly [skip, limit]");
  const bson::Value skip = pair.At(0);
  const bson::Value limit = pair.At(1);
  if (!skip.IsNumber()) {
    return Status(Location(31257), StrCat("the skip of $slice must be a number, not ", bson::TypeName(skip.type())));
  }
  if (!limit.IsNumber()) {
    return Status(Location(31258), StrCat("the limit of $slice must be a number, not ", bson::TypeName(limit.type())));
  }
  const SliceRange range{.skip = ToInt32Clamped(skip), .limit = ToInt32Clamped(limit)};
  if (range.limit <= 0)
    return Status(Location(31259), StrCat("the limit of $slice must be positive, not ", range.limit));
  return range;
}

void AppendSlice(std::string_view name, bson::View array, const SliceRange& range, bson::Builder* out) {
  const int64_t limit = range.limit;
  int64_t first = range.skip.value_or(limit < 0 ? limit : 0);
  if (first < 0) first = std::max<int64_t>(0, static_cast<int64_t>(array.Count()) + first);
  const int64_t end = limit < 0 ? std::numeric_limits<int64_t>::max() : first + limit;

  BRAID_ASSERT(first >= 0 && end >= first);
  out->OpenArray(name);
  int64_t at = 0;
  for (const bson::Element& element : array) {
    if (at >= end) break;
    if (at++ >= first) out->AppendNext(element.value);
  }
  out->Close();
}

}  // namespace braid::query
