// Helpers on values that several families of operators share: making arrays and documents in the arena, reading
// integers, walking paths.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/bson/arena.h"
#include "engine/query/expression/evaluation.h"

namespace braid::query {

/// An array of the values in one allocation; missing becomes null.
bson::Value MakeArray(bson::Arena& arena, std::span<const bson::Value> items);
/// A document of the elements in one allocation; missing values are left out.
bson::Value MakeObject(bson::Arena& arena, std::span<const bson::Element> fields);
/// The elements of an array, or the values of a document's fields.
Values ItemsOf(const bson::Value& array);

/// What lies at a path; arrays on the way give the array of what lies below their documents.
bson::Value Walk(bson::View document, std::span<const std::string> path, bson::Arena& arena);

/// The same below each document of an array; what is no document is passed over.
bson::Value WalkArray(const bson::Value& array, std::span<const std::string> path, bson::Arena& arena);

/// The number as an int32 if it is one exactly, whatever its type.
std::optional<int32_t> ExactInt32(const bson::Value& value);

/// The optional third and fourth operands of the $indexOf family: where to look, `end` excluded.
struct IndexRange {
  int64_t start = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
};
Result<IndexRange> IndexRangeOf(const Call& call);

/// TypeName, as messages show it.
inline std::string_view TypeOf(const bson::Value& value) { return bson::TypeName(value.type()); }

}  // namespace braid::query
