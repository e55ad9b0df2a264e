// ChangeIndex: the changes of a write set by their keys. Inside this folder only.
//
// A change is noted as the place of its bytes in the batch, in its family: the keys of a collection or an index on a
// shard. A family is hashed when it is first asked for a key that is not behind all of its own. So a set that is only
// written to, or written to in the order of keys (an insert of many documents), never pays for that.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/storage/store.h"

namespace rocksdb {
class WriteBatch;
}  // namespace rocksdb

namespace braid::storage {

/// Any number of threads may read at the same time; a thread that notes or forgets changes must be alone.
class ChangeIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Kind : uint8_t { kPut, kDelete, kMerge };
  struct ChangeBytes {
    std::string_view key;
    std::string_view value;  // of a put or merge
    Kind kind;
  };

  explicit ChangeIndex(const rocksdb::WriteBatch& batch) : batch_(batch) {}

  /// Notes the change that was just appended to the batch.
  void Note(Kind kind, std::string_view key, size_t value_size);
  /// Forgets the newest one, whose bytes must still be there.
  void ForgetNewest();
  size_t size() const { return changes_.size(); }

  /// The newest put or deletion of the key, or kNone.
  uint32_t Find(std::string_view key) const;
  /// False only if there is no put or deletion at all in the range.
  bool MayChange(const Range& range) const;
  /// Its bytes, valid until the batch is changed.
  ChangeBytes At(uint32_t change) const { return {KeyOf(change), ValueOf(change), changes_[change].kind}; }

  /// Calls `each` with the newest put or deletion of every key of the range, in the order of keys.
  template <typename Each>
  void ForEachIn(const Range& range, const Each& each) const {
    const Ordered& ordered = OrderKeys();
    const auto end = range.end.empty() ? ordered.end() : ordered.lower_bound(std::string_view(range.end));
    for (auto at = ordered.lower_bound(std::string_view(range.begin)); at != end; ++at) each(At(*at));
  }
  /// All changes by family, and in each in the order of keys; those of one key in the order in which they were made.
  std::vector<uint32_t> InOrder() const;

 private:
  struct Change {
    uint32_t key_at;
    uint32_t key_size;
    uint32_t value_at;
    uint32_t value_size;
    // Once it is hashed.
    uint32_t hash;
    uint32_t previous;  // the change of the same key before this one, or kNone
    Kind kind;
  };
  struct Family {
    std::vector<uint32_t> changes;   // in the order they were made
    uint32_t largest = kNone;        // one of those with the largest key; kNone: not known, or there is none
    bool in_order = true;            // no key came after a larger one
    std::vector<uint32_t> slots;     // open addressing, linear: the newest change of a key, or kNone
    std::atomic<size_t> hashed = 0;  // how many of the changes are in the slots
  };
  struct Order {
    const ChangeIndex* index;
    using is_transparent = void;
    bool operator()(uint32_t a, uint32_t b) const { return index->KeyOf(a) < index->KeyOf(b); }
    bool operator()(uint32_t a, std::string_view b) const { return index->KeyOf(a) < b; }
    bool operator()(std::string_view a, uint32_t b) const { return a < index->KeyOf(b); }
  };
  using Ordered = std::set<uint32_t, Order>;

  std::string_view KeyOf(uint32_t change) const;
  std::string_view ValueOf(uint32_t change) const;
  uint32_t& Slot(Family& family, std::string_view key, uint32_t hash) const;
  void HashRest(Family& family) const;
  const Ordered& OrderKeys() const;
  void AppendSorted(const Family& family, std::vector<uint32_t>& to) const;

  const rocksdb::WriteBatch& batch_;
  // Hashes and order are made by the first reader that needs them, under `mu_`: they are mutable.
  mutable std::vector<Change> changes_;                    // in the order they were made
  mutable std::unordered_map<uint64_t, Family> families_;  // all that ever had a change here
  mutable std::optional<Ordered> ordered_;                 // the newest put or deletion of each key
  mutable Mutex mu_;  // for readers; a thread that changes the set is alone and needs no lock
};

}  // namespace braid::storage
