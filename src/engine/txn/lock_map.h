// LockMap: numbers by the hash of a key, side by side in memory. A transaction over many documents adds and removes one
// entry for each of them, where nodes on the heap would cost more than all the rest of locking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace braid::txn {

/// Open addressing with linear probing. Values are not 0. Keys are hashes whose low `kStripeBits` bits are alike within
/// a map. Not thread-safe.
class LockMap {
 public:
  static constexpr unsigned kStripeBits = 6;

  size_t size() const { return size_; }

  /// The value of the key; null if it has none. Valid until the next change of the map.
  uint64_t* Find(uint64_t key) {
    if (size_ == 0) return nullptr;
    Slot& slot = SlotOf(key);
    return slot.value == 0 ? nullptr : &slot.value;
  }
  const uint64_t* Find(uint64_t key) const { return const_cast<LockMap*>(this)->Find(key); }

  /// The key's value, and whether it is new, which is `value` then.
  std::pair<uint64_t*, bool> TryEmplace(uint64_t key, uint64_t value) {
    BRAID_ASSERT(value != 0);
    if ((size_ + 1) * 2 > slots_.size()) Grow();
    Slot& slot = SlotOf(key);
    if (slot.value != 0) return {&slot.value, false};
    slot = {key, value};
    ++size_;
    return {&slot.value, true};
  }

  /// The key must be there. A map that becomes empty gives most of its memory back.
  void Erase(uint64_t key) {
    BRAID_ASSERT(size_ > 0);
    size_t hole = static_cast<size_t>(&SlotOf(key) - slots_.data());
    BRAID_ASSERT(slots_[hole].value != 0);
    // Entries behind the hole move into it, unless they would come to lie before their own place.
    const size_t mask = slots_.size() - 1;
    for (size_t i = (hole + 1) & mask; slots_[i].value != 0; i = (i + 1) & mask) {
      if (((i - Place(slots_[i].key)) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    if (--size_ == 0 && slots_.size() > kKeptSlots) Clear();
  }

  void Clear() {
    std::vector<Slot>().swap(slots_);
    size_ = 0;
  }

 private:
  static constexpr size_t kKeptSlots =
      4096;  // of 16 bytes: growing again costs a large transaction more than its locks
  struct Slot {
    uint64_t key = 0;
    uint64_t value = 0;  // 0: free
  };

  size_t Place(uint64_t key) const { return (key >> kStripeBits) & (slots_.size() - 1); }
  /// The slot of the key, or the free one where it belongs.
  Slot& SlotOf(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    size_t i = Place(key);
    while (slots_[i].value != 0 && slots_[i].key != key) i = (i + 1) & mask;  // half of them are free
    return slots_[i];
  }
  void Grow() {
    std::vector<Slot> before(slots_.empty() ? 16 : slots_.size() * 2);
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.value != 0) SlotOf(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;  // as many as a power of two, or none
  size_t size_ = 0;
};

}  // namespace braid::txn
