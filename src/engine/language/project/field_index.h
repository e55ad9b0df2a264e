// FieldIndex: finds a field name in a fixed list. Called once per field of every document, so it neither allocates nor
// reads more of a name than needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/assert.h"

namespace braid::query {

/// A small open-addressing table. The names must be distinct and outlive the index. Immutable after construction; any
/// thread.
class FieldIndex {
 public:
  FieldIndex() = default;
  explicit FieldIndex(std::vector<std::string_view> names) : names_(std::move(names)) {
    size_t slots = 4;
    while (slots < names_.size() * 3) slots *= 2;
    slots_.assign(slots, -1);
    for (size_t i = 0; i < names_.size(); ++i) {
      size_t at = Hash(names_[i]) & (slots - 1);
      for (; slots_[at] >= 0; at = (at + 1) & (slots - 1)) {
        BRAID_ASSERT(names_[static_cast<size_t>(slots_[at])] != names_[i]);
      }
      slots_[at] = static_cast<int32_t>(i);
    }
  }

  size_t size() const { return names_.size(); }

  /// The position of the name in the list, or -1.
  int32_t Find(std::string_view name) const {
    if (names_.empty()) return -1;
    const size_t mask = slots_.size() - 1;
    for (size_t at = Hash(name) & mask; slots_[at] >= 0; at = (at + 1) & mask) {
      if (names_[slots_[at]] == name) return slots_[at];
    }
    return -1;
  }

 private:
  static constexpr size_t kFew = 32;

  /// Length and both ends distinguish a few field names of one document, but not many.
  size_t Hash(std::string_view name) const {
    if (names_.size() > kFew) return std::hash<std::string_view>()(name);
    if (name.empty()) return 0;
    return name.size() + static_cast<uint8_t>(name.front()) * 7 + static_cast<uint8_t>(name.back()) * 31;
  }

  std::vector<std::string_view> names_;
  std::vector<int32_t> slots_;  // positions in names_, -1: free; the size is a power of two
};

}  // namespace braid::query
