// Buffer: bytes that are not zeroed before they are filled, so that reserved but unwritten room costs no memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

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
  // A large one is pages of its own: it grows by mapping them elsewhere, where copying a message of some megabytes
  // again and again would keep the other connections of a loop waiting.
  static constexpr size_t kMappedFrom = 512 * 1024;

  struct Release {
    Release() : Release(0) {}
    explicit Release(size_t bytes) : mapped(bytes) {}
    size_t mapped;  // bytes; 0: not mapped
    void operator()(char* bytes) const { mapped > 0 ? void(::munmap(bytes, mapped)) : delete[] bytes; }
  };
  using Bytes = std::unique_ptr<char[], Release>;

  static char* Checked(void* mapping) {
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char*>(mapping);
  }

  static Bytes Allocate(size_t capacity) {
    if (capacity < kMappedFrom) return Bytes(new char[capacity]);  // not make_unique: that would write zeros
    return {Checked(::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
            Release(capacity)};
  }

  void Reallocate(size_t capacity, size_t keep) {
    BRAID_ASSERT(keep <= capacity && keep <= capacity_);
    size_t& mapped = data_.get_deleter().mapped;
    if (mapped > 0 && capacity >= kMappedFrom) {
      char* const moved = Checked(::mremap(data_.get(), mapped, capacity, MREMAP_MAYMOVE));
      static_cast<void>(data_.release());
      data_.reset(moved);
      mapped = capacity;
    } else {
      Bytes fresh = Allocate(capacity);
      if (keep > 0) std::memcpy(fresh.get(), data_.get(), keep);
      data_ = std::move(fresh);
    }
    capacity_ = capacity;
  }

  Bytes data_;
  size_t capacity_ = 0;
};

}  // namespace braid::wire
