// Buffer: bytes that are not zeroed before they are filled, so that reserved but unwritten room costs no memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/assert.h"

namespace braid::wire {

/// Move-only. Not thread-safe.
class Buffer {
 public:
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  size_t capacity() const { return capacity_; }
  std::string_view View(size_t from, size_t size) const {
    BRAID_ASSERT(from <= capacity_ && size <= capacity_ - from);
    return {data_.get() + from, size};
  }

  /// Room for at least `capacity` bytes; the first `keep` stay.
  void Reserve(size_t capacity, size_t keep) {
    if (capacity > capacity_) Reallocate(capacity, keep);
  }

  /// Gives memory back if there is more than `capacity_max`; the first `keep` (<= capacity) bytes stay.
  void Shrink(size_t capacity_max, size_t capacity, size_t keep) {
    if (capacity_ > capacity_max) Reallocate(capacity, keep);
  }

 private:
  void Reallocate(size_t capacity, size_t keep) {
    BRAID_ASSERT(keep <= capacity && keep <= capacity_);
    std::unique_ptr<char[]> fresh(new char[capacity]);  // not make_unique: that would write zeros
    if (keep > 0) std::memcpy(fresh.get(), data_.get(), keep);
    data_ = std::move(fresh);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
};

}  // namespace braid::wire
