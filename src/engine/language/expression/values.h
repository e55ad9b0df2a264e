// Helpers on values that several families of operators share: making arrays and documents in the arena, reading
// integers, walking paths.
#pragma once

#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/bson/arena.h"
#include "engine/language/expression/evaluation.h"

namespace braid::query {

/// How long the name of an array's element is.
size_t IndexDigits(size_t index);
/// Frees everything allocated since the mark except the value, which may move; does nothing if that would free too
/// little.
bson::Value FreeTemporaries(bson::Arena& arena, const bson::Arena::Mark& before, const bson::Value& value);
/// As std::string_view::find, but linear in the text whatever the token is.
size_t FindText(std::string_view text, std::string_view token, size_t from);

/// A string of so many bytes, which `write(char*)` writes.
template <typename Write>
bson::Value MakeString(bson::Arena& arena, size_t size, const Write& write) {
  char* const start = arena.TryAllocate(size + 5);
  if (start == nullptr) return bson::Arena::Empty(bson::Type::kString);
  const auto length = static_cast<uint32_t>(size + 1);
  std::memcpy(start, &length, sizeof(length));
  write(start + sizeof(length));
  start[size + 4] = '\0';
  return {bson::Type::kString, start, length + 4};
}

/// An array of the values in one allocation; missing becomes null.
bson::Value MakeArray(bson::Arena& arena, std::span<const bson::Value> items);
/// A document of the elements in one allocation; missing values are left out.
bson::Value MakeObject(bson::Arena& arena, std::span<const bson::Element> fields);
/// The elements of an array, or the values of a document's fields.
Values ItemsOf(const bson::Value& array);

/// The value at a path; an array on the way gives the array of the values below its documents.
bson::Value Walk(bson::View document, std::span<const std::string> path, bson::Arena& arena);

/// The same below each document of an array; other elements are skipped.
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
