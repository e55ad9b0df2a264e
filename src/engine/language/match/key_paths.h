// KeyPaths: the compound keys of a document over several paths. An index stores them all; a sort takes the smallest.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/language/match/path.h"

namespace braid::query {

/// Immutable after construction; any thread.
class KeyPaths {
 public:
  static constexpr size_t kPathsMax = 32;
  /// One value per path, in order. An absent value is missing (the caller stores null; a sparse index has no entry if
  /// all are missing); an empty array gives undefined. The views point into the document.
  using Key = std::span<const bson::Value>;
  /// For each path a bit for every component whose value was an array, bit 0 the first: what makes an index multikey.
  using ArrayComponents = std::array<uint64_t, kPathsMax>;

  KeyPaths() = default;
  /// At most kPathsMax paths.
  explicit KeyPaths(std::span<const std::string_view> paths);

  size_t size() const { return paths_.size(); }
  const FieldPath& operator[](size_t i) const { return paths_[i]; }

  /// Fills `key` if no path meets an array, which makes it the only key; false, and `key` undefined, if one does.
  bool PlainKey(bson::View document, std::span<bson::Value> key) const;

  /// Calls visit for each key, equal ones included; at least once. kCannotIndexParallelArrays if two paths go through
  /// different arrays of the document; Location(16746) if a numeric component is both a position of an array and a
  /// field in one of its documents.
  Status ForEachKey(bson::View document, const std::function<void(Key)>& visit,
                    ArrayComponents* arrays = nullptr) const;

 private:
  std::vector<FieldPath> paths_;
};

}  // namespace braid::query
