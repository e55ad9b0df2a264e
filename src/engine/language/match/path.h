// Field paths: how "a.b.0" leads through documents and arrays. Shared by the matcher, sort keys and index keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::query {

/// The value at a dotted path without entering arrays except by number: what _id-like lookups and upserts use. Missing
/// if none.
bson::Value Lookup(bson::View document, std::string_view path);

/// True if the path component is a plain array index: digits without a leading zero.
bool IsArrayIndex(std::string_view component);

/// A dotted path, split once so that nothing is allocated per document. Immutable; copies own their text.
class FieldPath {
 public:
  static constexpr int64_t kNoIndex = -1;

  explicit FieldPath(std::string_view dotted);

  std::string_view text() const { return text_; }
  size_t size() const { return parts_.size(); }  ///< at least 1; the empty path has one empty component
  std::string_view operator[](size_t i) const {
    return std::string_view(text_).substr(parts_[i].start, parts_[i].size);
  }
  /// The array index that component i names, kNoIndex if it names none.
  int64_t index(size_t i) const { return parts_[i].index; }

 private:
  struct Part {
    uint32_t start;
    uint32_t size;
    int64_t index;
  };
  std::string text_;
  std::vector<Part> parts_;
};

/// How a walk treats an array at the end of the path.
enum class Leaf {
  kElements,  // visits each element, then the array itself
  kWhole,     // visits only the array itself
};

namespace internal {

template <typename Visit>
bool WalkArray(const FieldPath& path, size_t at, const bson::Value& array, Leaf leaf, int outer, Visit& visit);

// Component `at` and those behind it, starting in `object` (an array is read as a document of numbered fields here).
template <typename Visit>
bool WalkObject(const FieldPath& path, size_t at, bson::View object, Leaf leaf, int outer, Visit& visit) {
  for (;;) {
    const bson::Value value = object.Find(path[at]);
    ++at;
    if (value.Is(bson::Type::kArray)) return WalkArray(path, at, value, leaf, outer, visit);
    if (at == path.size()) return visit(value, outer);
    if (!value.Is(bson::Type::kObject)) return visit(bson::Value(), outer);
    object = value.AsView();
  }
}

template <typename Visit>
bool WalkArray(const FieldPath& path, size_t at, const bson::Value& array, Leaf leaf, int outer, Visit& visit) {
  const bool at_end = at == path.size();
  if (at_end && leaf == Leaf::kWhole) return visit(array, outer);
  int i = 0;
  for (const bson::Element& element : array.AsView()) {
    const bson::Value& value = element.value;
    const int first = outer >= 0 ? outer : i;
    if (at_end) {
      if (visit(value, first)) return true;
    } else {
      // A number means both: the field of that name in each element, and the element at that position.
      if (value.Is(bson::Type::kObject) && WalkObject(path, at, value.AsView(), leaf, first, visit)) return true;
      if (path.index(at) == i) {
        if (at + 1 == path.size()) {
          if (visit(value, first)) return true;
        } else if (value.Is(bson::Type::kObject) || value.Is(bson::Type::kArray)) {
          if (WalkObject(path, at + 1, value.AsView(), leaf, first, visit)) return true;
        }
      }
    }
    ++i;
  }
  return at_end && visit(array, outer);
}

}  // namespace internal

/// Calls visit(const bson::Value&, int array_index) for every value a query sees at the path, until it returns true;
/// returns whether one did. A value that is not there is visited as missing; a path that ends inside an array without a
/// document there visits nothing. array_index is the position in the outermost array the walk went through, -1 if it
/// went through none.
template <typename Visit>
bool WalkPath(const FieldPath& path, bson::View document, Leaf leaf, Visit&& visit) {
  return internal::WalkObject(path, 0, document, leaf, -1, visit);
}

}  // namespace braid::query
