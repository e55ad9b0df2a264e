// $slice of find: a part of an array, {$slice: n} or {$slice: [skip, n]}.
#pragma once

#include <cstdint>
#include <optional>

#include "braid/status.h"
#include "engine/bson/builder.h"
#include "engine/bson/value.h"

namespace braid::query {

struct SliceRange {
  std::optional<int32_t> skip;  // negative: from the end
  int32_t limit = 0;            // negative (only without skip): the last ones
};

/// A number, or [number, positive number]. Codes as MongoDB's: 31272, 31257, 31258, 31259, 31273.
Result<SliceRange> ParseSlice(const bson::Value& argument);

/// Appends the part of the array under `name`.
void AppendSlice(std::string_view name, bson::View array, const SliceRange& range, bson::Builder* out);

}  // namespace braid::query
