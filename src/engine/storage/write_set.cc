// WriteSet: RocksDB's batch, with an index over its own bytes. The hash index serves Get; the ordered one is made when
// the first cursor needs it, so a set that is only written (an insert of many documents), or whose cursors read
// collections that it has not changed, never pays for it.
#include <rocksdb/write_batch.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include "base/assert.h"
#include "base/mutex.h"
#include "engine/storage/store.h"
#include "engine/storage/store_cursor.h"

namespace braid::storage {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kDeleted = UINT32_MAX;

/// The number of bytes of a key that distinguish collections and indexes and, if keys have one, their shards (keys.h).
size_t FamilySize(std::string_view key) { return key.starts_with('d') || key.starts_with('i') ? 7 : 5; }

/// A change, as the place of its bytes in the batch.
struct Change {
  uint32_t key_at;
  uint32_t key_size;
  uint32_t value_at;
  uint32_t value_size;  // kDeleted: a deletion
  uint32_t hash;
  uint32_t previous;  // the change of the same key before this one, or kNone
};

}  // namespace

struct WriteSet::Impl {
  rocksdb::WriteBatch batch;
  std::vector<Change> changes;  // in the order they were made
  std::vector<uint32_t> slots;  // open addressing, linear: the newest change of a key, or kNone
  std::vector<uint32_t> marks;  // changes.size() at each save point
  size_t keys = 0;              // slots in use
  // The families of all keys that were ever changed here: keys of other families are as in the store.
  std::unordered_set<std::string> families;
  std::string newest_family;

  struct Order {
    const Impl* impl;
    using is_transparent = void;
    bool operator()(uint32_t a, uint32_t b) const { return impl->Key(a) < impl->Key(b); }
    bool operator()(uint32_t a, std::string_view b) const { return impl->Key(a) < b; }
    bool operator()(std::string_view a, uint32_t b) const { return a < impl->Key(b); }
  };
  std::optional<std::set<uint32_t, Order>> ordered;  // the newest change of each key; only if cursors are used
  // Several threads may make cursors at the same time, and the first of them makes `ordered`. A thread that changes the
  // set has exclusive access and needs no lock.
  Mutex order_mu;

  std::string_view Bytes(uint32_t at, uint32_t size) const { return std::string_view(batch.Data()).substr(at, size); }
  std::string_view Key(uint32_t change) const { return Bytes(changes[change].key_at, changes[change].key_size); }
  std::string_view ValueOf(uint32_t change) const {
    return Bytes(changes[change].value_at, changes[change].value_size);
  }
  bool IsDeleted(uint32_t change) const { return changes[change].value_size == kDeleted; }

  static uint32_t Hash(std::string_view key) { return static_cast<uint32_t>(std::hash<std::string_view>()(key)); }

  /// The slot of the key, or the free one where it belongs.
  uint32_t& Slot(std::string_view key, uint32_t hash) {
    BRAID_ASSERT(keys < slots.size());  // one is free, so the search ends
    const size_t mask = slots.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      uint32_t& slot = slots[i];
      if (slot == kNone || (changes[slot].hash == hash && Key(slot) == key)) return slot;
    }
  }

  void Grow() {
    // Keys are reinserted in the order in which they were first added: so a later key never lies on the probe path of
    // an earlier one, and rolling back (newest first) may simply free its slot.
    std::vector<uint32_t> newest(changes.size(), kNone);  // by the first change of the key
    std::vector<uint32_t> first(changes.size());
    for (uint32_t i = 0; i < changes.size(); ++i) {
      first[i] = changes[i].previous == kNone ? i : first[changes[i].previous];
      newest[first[i]] = i;
    }
    slots.assign(std::max<size_t>(64, slots.size() * 2), kNone);
    const size_t mask = slots.size() - 1;
    for (uint32_t i = 0; i < changes.size(); ++i) {
      if (newest[i] == kNone) continue;
      size_t at = changes[i].hash & mask;
      while (slots[at] != kNone) at = (at + 1) & mask;
      slots[at] = newest[i];
    }
  }

  void NoteFamily(std::string_view key) {
    const std::string_view family = key.substr(0, FamilySize(key));
    if (family == newest_family) return;
    newest_family = family;
    families.insert(newest_family);
  }

  /// False only if no key of the range was changed.
  bool MayChange(const Range& range) const {
    const std::string family = range.begin.substr(0, FamilySize(range.begin));
    const bool is_within = family.size() == FamilySize(range.begin) && range.end.starts_with(family);
    return !is_within || families.contains(family);
  }

  /// Notes the record just appended to the batch.
  void Note(std::string_view key, std::optional<size_t> value_size) {
    if ((keys + 1) * 2 > slots.size()) Grow();
    const size_t end = batch.GetDataSize();
    BRAID_ASSERT(end < UINT32_MAX);
    Change change{};
    change.key_size = static_cast<uint32_t>(key.size());
    if (value_size) {
      size_t length_bytes = 1;  // RocksDB writes the value's length as a varint before it
      for (size_t rest = *value_size; rest >= 128; rest >>= 7) ++length_bytes;
      change.value_size = static_cast<uint32_t>(*value_size);
      change.value_at = static_cast<uint32_t>(end - *value_size);
      change.key_at = static_cast<uint32_t>(change.value_at - length_bytes - key.size());
    } else {
      change.value_size = kDeleted;
      change.key_at = static_cast<uint32_t>(end - key.size());
    }
    change.hash = Hash(key);
    NoteFamily(key);
    const auto number = static_cast<uint32_t>(changes.size());
    uint32_t& slot = Slot(key, change.hash);
    change.previous = slot;
    if (slot == kNone) {
      ++keys;
    } else if (ordered) {
      ordered->erase(slot);
    }
    changes.push_back(change);
    BRAID_ASSERT(Key(number) == key);  // where RocksDB has put it in the batch
    slot = number;
    if (ordered) ordered->insert(number);
  }

  void ForgetNewest() {
    BRAID_ASSERT(!changes.empty());
    const auto number = static_cast<uint32_t>(changes.size() - 1);
    uint32_t& slot = Slot(Key(number), changes[number].hash);
    BRAID_ASSERT(slot == number);
    if (ordered) ordered->erase(number);
    slot = changes[number].previous;
    if (slot == kNone) {
      --keys;
    } else if (ordered) {
      ordered->insert(slot);
    }
    changes.pop_back();
  }

  void OrderKeys() {
    const MutexLock lock(order_mu);
    if (ordered) return;
    ordered.emplace(Order{this});
    for (uint32_t slot : slots) {
      if (slot != kNone) ordered->insert(slot);
    }
  }
};

WriteSet::WriteSet(Store& store) : store_(&store) {}
WriteSet::~WriteSet() = default;
WriteSet::WriteSet(WriteSet&&) noexcept = default;
WriteSet& WriteSet::operator=(WriteSet&&) noexcept = default;

WriteSet::Impl& WriteSet::impl() {
  if (impl_ == nullptr) impl_ = std::make_unique<Impl>();
  return *impl_;
}
rocksdb::WriteBatch& WriteSet::batch() { return impl().batch; }

namespace {
/// A batch in memory only fails when it is out of bounds, which its own limits exclude.
void Must(const rocksdb::Status& status) { BRAID_ASSERT(status.ok()); }
}  // namespace

void WriteSet::Put(std::string_view key, std::string_view value) {
  Must(impl().batch.Put(key, value));
  impl_->Note(key, value.size());
}

void WriteSet::Delete(std::string_view key) {
  Must(impl().batch.Delete(key));
  impl_->Note(key, std::nullopt);
}

void WriteSet::Add(std::string_view key, int64_t amount) {
  Must(impl().batch.Merge(key, rocksdb::Slice(reinterpret_cast<const char*>(&amount), 8)));
}

bool WriteSet::empty() const { return impl_ == nullptr || impl_->batch.Count() == 0; }
size_t WriteSet::bytes() const { return impl_ == nullptr ? 0 : impl_->batch.GetDataSize(); }

void WriteSet::Clear() { impl_.reset(); }

void WriteSet::SetSavePoint() {
  impl().batch.SetSavePoint();
  impl_->marks.push_back(static_cast<uint32_t>(impl_->changes.size()));
}

void WriteSet::RollbackToSavePoint() {
  BRAID_ASSERT(impl_ != nullptr && !impl_->marks.empty());
  while (impl_->changes.size() > impl_->marks.back()) impl_->ForgetNewest();  // while their bytes are still there
  impl_->marks.pop_back();
  Must(impl_->batch.RollbackToSavePoint());
}

void WriteSet::PopSavePoint() {
  BRAID_ASSERT(impl_ != nullptr && !impl_->marks.empty());
  impl_->marks.pop_back();
  Must(impl_->batch.PopSavePoint());
}

bool WriteSet::HasChange(std::string_view key) const {
  return impl_ != nullptr && impl_->keys > 0 && impl_->Slot(key, Impl::Hash(key)) != kNone;
}

Result<bool> WriteSet::Get(std::string_view key, const Snapshot& snapshot, Buffer* out) const {
  if (impl_ != nullptr && impl_->keys > 0) {
    if (const uint32_t change = impl_->Slot(key, Impl::Hash(key)); change != kNone) {
      if (impl_->IsDeleted(change)) return false;
      out->Copy(impl_->ValueOf(change));  // the batch's bytes move when it grows
      return true;
    }
  }
  return store_->Get(key, snapshot, out);
}

std::unique_ptr<Cursor> WriteSet::StoreCursorOver(Range range, const Snapshot& snapshot,
                                                  std::unique_ptr<Cursor> spare) const {
  if (spare != nullptr && spare->MoveTo(range)) return spare;
  return store_->NewCursor(std::move(range), snapshot);
}

std::unique_ptr<Cursor> WriteSet::NewCursor(Range range, const Snapshot& snapshot,
                                            std::unique_ptr<Cursor> spare) const {
  if (impl_ == nullptr || impl_->keys == 0 || !impl_->MayChange(range)) {
    return StoreCursorOver(std::move(range), snapshot, std::move(spare));
  }
  impl_->OrderKeys();
  const auto& ordered = *impl_->ordered;
  const auto begin = ordered.lower_bound(std::string_view(range.begin));
  const auto end = range.end.empty() ? ordered.end() : ordered.lower_bound(std::string_view(range.end));
  if (begin == end) return StoreCursorOver(std::move(range), snapshot, std::move(spare));
  size_t count = 0;
  size_t bytes = 0;
  for (auto at = begin; at != end; ++at, ++count) {
    bytes += impl_->Key(*at).size() + (impl_->IsDeleted(*at) ? 0 : impl_->ValueOf(*at).size());
  }
  Changes changes;
  changes.Reserve(count, bytes);
  for (auto at = begin; at != end; ++at) {
    const bool deleted = impl_->IsDeleted(*at);
    changes.Add(impl_->Key(*at), deleted ? std::string_view() : impl_->ValueOf(*at), deleted);
  }
  return NewOverlayCursor(StoreCursorOver(std::move(range), snapshot, std::move(spare)), std::move(changes));
}

}  // namespace braid::storage
