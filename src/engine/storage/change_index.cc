#include "engine/storage/change_index.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "base/assert.h"

namespace braid::storage {
namespace {

constexpr size_t kSlotsMin = 64;

/// The number of bytes of a key that distinguish collections and indexes and, if keys have one, their shards (keys.h).
size_t FamilySize(std::string_view key) { return key.starts_with('d') || key.starts_with('i') ? 7 : 5; }

/// Up to eight bytes from `at` on as a number, in the order of keys: what is missing is zero.
uint64_t BytesFrom(std::string_view key, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value = value << 8 | (at + i < key.size() ? static_cast<unsigned char>(key[at + i]) : 0);
  }
  return value;
}

/// The family's bytes, and how many there are: short keys have fewer.
uint64_t FamilyNumber(std::string_view key) {
  const size_t size = std::min(FamilySize(key), key.size());
  return BytesFrom(key.substr(0, size), 0, 7) << 8 | size;
}

uint32_t HashOfKey(std::string_view key) { return static_cast<uint32_t>(std::hash<std::string_view>()(key)); }

}  // namespace

std::string_view ChangeIndex::KeyOf(uint32_t change) const {
  return std::string_view(batch_.Data()).substr(changes_[change].key_at, changes_[change].key_size);
}

std::string_view ChangeIndex::ValueOf(uint32_t change) const {
  return std::string_view(batch_.Data()).substr(changes_[change].value_at, changes_[change].value_size);
}

void ChangeIndex::Note(Kind kind, std::string_view key, size_t value_size) {
  const size_t end = batch_.GetDataSize();
  BRAID_ASSERT(end < UINT32_MAX);
  Change change{};
  change.kind = kind;
  change.key_size = static_cast<uint32_t>(key.size());
  change.value_size = static_cast<uint32_t>(value_size);
  change.value_at = static_cast<uint32_t>(end - value_size);
  size_t length_bytes = kind == Kind::kDelete ? 0 : 1;  // RocksDB writes the value's length as a varint before it
  for (size_t rest = value_size; rest >= 128; rest >>= 7) ++length_bytes;
  change.key_at = static_cast<uint32_t>(change.value_at - length_bytes - key.size());
  const auto number = static_cast<uint32_t>(changes_.size());
  changes_.push_back(change);
  BRAID_ASSERT(KeyOf(number) == key);  // where RocksDB has put it in the batch
  Family& family = families_[FamilyNumber(key)];
  const bool grows = family.changes.empty() || (family.largest != kNone && key >= KeyOf(family.largest));
  if (grows) family.largest = number;
  family.in_order = family.changes.empty() || (family.in_order && grows);
  family.changes.push_back(number);
  if (!ordered_ || kind == Kind::kMerge) return;
  HashRest(family);
  if (changes_[number].previous != kNone) ordered_->erase(changes_[number].previous);
  ordered_->insert(number);
}

void ChangeIndex::ForgetNewest() {
  BRAID_ASSERT(!changes_.empty());
  const auto number = static_cast<uint32_t>(changes_.size() - 1);
  const Change& change = changes_[number];
  Family& family = families_[FamilyNumber(KeyOf(number))];
  BRAID_ASSERT(!family.changes.empty() && family.changes.back() == number);
  const bool is_hashed = family.hashed == family.changes.size();
  if (is_hashed && change.kind != Kind::kMerge) {
    // Keys are hashed in the order in which they were added: a later one is never on the way to an earlier one, and its
    // slot can simply be freed.
    uint32_t& slot = Slot(family, KeyOf(number), change.hash);
    BRAID_ASSERT(slot == number);
    slot = change.previous;
    if (ordered_) ordered_->erase(number);
    if (ordered_ && slot != kNone) ordered_->insert(slot);
  }
  family.changes.pop_back();
  if (is_hashed) family.hashed = family.changes.size();
  if (family.largest == number) family.largest = kNone;
  changes_.pop_back();
}

/// The slot of the key, or the free one where it belongs.
uint32_t& ChangeIndex::Slot(Family& family, std::string_view key, uint32_t hash) const {
  BRAID_ASSERT(family.changes.size() < family.slots.size());  // one is free, so the search ends
  const size_t mask = family.slots.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    uint32_t& slot = family.slots[i];
    if (slot == kNone || (changes_[slot].hash == hash && KeyOf(slot) == key)) return slot;
  }
}

void ChangeIndex::HashRest(Family& family) const {
  size_t hashed = family.hashed.load(std::memory_order_relaxed);
  if (family.changes.size() * 2 > family.slots.size()) {
    family.slots.assign(std::bit_ceil(std::max(kSlotsMin, family.changes.size() * 2 + 1)), kNone);
    hashed = 0;
  }
  for (; hashed < family.changes.size(); ++hashed) {
    const uint32_t number = family.changes[hashed];
    Change& change = changes_[number];
    if (change.kind == Kind::kMerge) continue;
    change.hash = HashOfKey(KeyOf(number));
    uint32_t& slot = Slot(family, KeyOf(number), change.hash);
    change.previous = std::exchange(slot, number);
  }
  family.hashed.store(hashed, std::memory_order_release);
}

uint32_t ChangeIndex::Find(std::string_view key) const {
  const auto found = families_.find(FamilyNumber(key));
  if (found == families_.end() || found->second.changes.empty()) return kNone;
  Family& family = found->second;
  if (family.largest != kNone && key > KeyOf(family.largest)) return kNone;
  if (family.hashed.load(std::memory_order_acquire) < family.changes.size()) {
    const MutexLock lock(mu_);
    if (family.hashed.load(std::memory_order_relaxed) < family.changes.size()) HashRest(family);
  }
  return Slot(family, key, HashOfKey(key));
}

bool ChangeIndex::MayChange(const Range& range) const {
  const size_t size = FamilySize(range.begin);
  const bool is_within =
      range.begin.size() >= size && range.end.starts_with(std::string_view(range.begin).substr(0, size));
  return !changes_.empty() && (!is_within || families_.contains(FamilyNumber(range.begin)));
}

const ChangeIndex::Ordered& ChangeIndex::OrderKeys() const {
  const MutexLock lock(mu_);
  if (ordered_) return *ordered_;
  ordered_.emplace(Order{this});
  for (auto& [number, family] : families_) {
    if (family.hashed.load(std::memory_order_relaxed) < family.changes.size()) HashRest(family);
    for (const uint32_t slot : family.slots) {
      if (slot != kNone) ordered_->insert(slot);
    }
  }
  return *ordered_;
}

std::vector<uint32_t> ChangeIndex::InOrder() const {
  std::vector<std::pair<uint64_t, const Family*>> families;
  families.reserve(families_.size());
  for (const auto& [number, family] : families_) families.emplace_back(number, &family);
  std::sort(families.begin(), families.end());
  std::vector<uint32_t> all;
  all.reserve(changes_.size());
  for (const auto& [number, family] : families) {
    if (family->in_order) {
      all.insert(all.end(), family->changes.begin(), family->changes.end());
    } else {
      AppendSorted(*family, all);
    }
  }
  BRAID_ASSERT(all.size() == changes_.size());
  return all;
}

void ChangeIndex::AppendSorted(const Family& family, std::vector<uint32_t>& to) const {
  struct Place {
    uint64_t head;  // the first bytes of the key behind its family
    uint32_t change;
  };
  std::vector<Place> places;
  places.reserve(family.changes.size());
  for (const uint32_t change : family.changes) {
    const std::string_view key = KeyOf(change);
    places.push_back({BytesFrom(key, FamilySize(key), sizeof(uint64_t)), change});
  }
  std::sort(places.begin(), places.end(), [this](const Place& a, const Place& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = KeyOf(a.change).compare(KeyOf(b.change));
    return order != 0 ? order < 0 : a.change < b.change;
  });
  for (const Place& place : places) to.push_back(place.change);
}

}  // namespace braid::storage
