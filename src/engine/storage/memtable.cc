#include "engine/storage/memtable.h"

#include <rocksdb/memtablerep.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/assert.h"

// Of RocksDB 7.8, whose memory/arena.h and db/lookup_key.h are not installed: what a table is handed and cannot do
// without. The first is a function of the library; the second is where an object has its first member.
namespace rocksdb {
class Arena {
 public:
  char* AllocateAligned(size_t bytes, size_t huge_page_size, Logger* logger);
};
class LookupKey {
 public:
  const char* entry() const { return start_; }

 private:
  const char* start_;  // as the key of an entry
};
}  // namespace rocksdb

namespace braid::storage {
namespace {

/// The key of an entry, which begins with its size as a varint: the user's key, and 8 bytes with the sequence number
/// and the kind of change. Newer entries of one key come first.
struct EntryKey {
  const char* data;
  size_t size;
  uint64_t tag;

  static EntryKey Of(const char* internal, size_t size) {
    BRAID_ASSERT(size >= sizeof(tag));
    EntryKey key{.data = internal, .size = size - sizeof(tag), .tag = 0};
    std::memcpy(&key.tag, internal + key.size, sizeof(tag));
    return key;
  }
  static EntryKey OfEntry(const char* entry) {
    auto size = static_cast<size_t>(static_cast<unsigned char>(*entry++));
    if (size >= 128) {
      size &= 127;
      for (int shift = 7;; shift += 7) {
        const auto byte = static_cast<size_t>(static_cast<unsigned char>(*entry++));
        size |= (byte & 127) << shift;
        if (byte < 128) break;
      }
    }
    return Of(entry, size);
  }

  int Compare(const EntryKey& other) const {
    if (const int order = std::memcmp(data, other.data, std::min(size, other.size)); order != 0) return order;
    if (size != other.size) return size < other.size ? -1 : 1;
    return tag == other.tag ? 0 : tag > other.tag ? -1 : 1;
  }
};

constexpr int kLevelsMax = 12;  // with a quarter of the nodes of a level on the next one, enough for 16 million

/// A node is followed by its entry and preceded by its links above the lowest level, the highest first.
struct Node {
  std::atomic<Node*> lowest;

  std::atomic<Node*>& Link(int level) { return *(reinterpret_cast<std::atomic<Node*>*>(this) - level); }
  Node* Next(int level) { return Link(level).load(std::memory_order_acquire); }
  const char* entry() const { return reinterpret_cast<const char*>(this + 1); }
  EntryKey key() const { return EntryKey::OfEntry(entry()); }
};

static_assert(sizeof(Node) == sizeof(std::atomic<Node*>));

class List {
 public:
  List() : head_(&head_room_[kLevelsMax - 1]) { before_.fill(head_); }
  List(const List&) = delete;

  /// The bytes of a node and its links, before its entry. The next Insert() is of this entry.
  size_t Overhead() {
    height_ = 1;
    while (height_ < kLevelsMax && (NextRandom() & 3) == 0) ++height_;
    return static_cast<size_t>(height_) * sizeof(Node);
  }
  /// The entry's address in memory with Overhead() bytes before it.
  char* EntryIn(char* room) const { return room + static_cast<size_t>(height_) * sizeof(Node); }

  /// False if the same key is there with the same tag.
  bool Insert(char* entry) {
    const EntryKey key = EntryKey::OfEntry(entry);
    FindPlace(key);
    const Node* const next = before_[0]->Next(0);
    if (next != nullptr && next->key().tag == key.tag && next->key().Compare(key) == 0) return false;
    Node* const node = reinterpret_cast<Node*>(entry) - 1;
    for (int i = 0; i < height_; ++i) {
      new (&node->Link(i)) std::atomic<Node*>(before_[i]->Link(i).load(std::memory_order_relaxed));
    }
    for (int i = 0; i < height_; ++i) {  // readers find it from here on, complete
      before_[i]->Link(i).store(node, std::memory_order_release);
      before_[i] = node;
    }
    if (height_ > levels_.load(std::memory_order_relaxed)) levels_.store(height_, std::memory_order_relaxed);
    return true;
  }

  Node* First() const { return head_->Next(0); }
  /// The first that is not before the key; null at the end.
  Node* FirstNotBefore(const EntryKey& key) const { return Find(key).first_behind; }
  /// Null if there is none.
  Node* NodeBefore(const EntryKey& key) const { return OrNull(Find(key).last_before); }
  Node* Last() const {
    Node* node = head_;
    for (int level = levels_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
      for (Node* next = node->Next(level); next != nullptr; next = node->Next(level)) node = next;
    }
    return OrNull(node);
  }

 private:
  static bool IsBefore(const Node* node, const EntryKey& key) {
    return node != nullptr && node->key().Compare(key) < 0;
  }
  static Node* LastBefore(Node* from, int level, const EntryKey& key) {
    for (Node* next = from->Next(level); IsBefore(next, key); next = from->Next(level)) from = next;
    return from;
  }
  // Moves `before_` from the newest entry to the place of the key. Behind the newest entry it climbs only up to where
  // the next node is behind the key, too: on the levels above this one nothing changes.
  void FindPlace(const EntryKey& key) {
    int level = 0;
    if (before_[0] != head_ && IsBefore(before_[0], key)) {
      while (level < kLevelsMax && IsBefore(before_[level]->Next(level), key)) ++level;
    } else {
      before_.fill(head_);
      level = levels_.load(std::memory_order_relaxed);
    }
    Node* from = head_;  // on the level above, if it has moved there
    while (--level >= 0) {
      Node* const moved = LastBefore(from == head_ ? before_[level] : from, level, key);
      from = moved == before_[level] ? head_ : moved;
      before_[level] = moved;
    }
  }
  struct Place {
    Node* last_before;
    Node* first_behind;  // or equal; null at the end
  };
  // Both as one walk has found them: when it ends, the writer may have put nodes between them, before the key or
  // behind.
  Place Find(const EntryKey& key) const {
    Place place{.last_before = head_, .first_behind = nullptr};
    for (int level = levels_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
      Node* next = place.last_before->Next(level);
      while (next != place.first_behind && IsBefore(next, key)) {
        place.last_before = next;
        next = next->Next(level);
      }
      place.first_behind = next;
    }
    return place;
  }
  Node* OrNull(Node* node) const { return node == head_ ? nullptr : node; }

  uint32_t NextRandom() {  // xorshift
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }

  std::array<Node, kLevelsMax> head_room_{};  // a node without an entry, and its links
  Node* const head_;
  std::atomic<int> levels_ = 1;  // that are in use
  // Of the writer.
  std::array<Node*, kLevelsMax> before_;  // the last node on each level up to the newest entry, this included
  int height_ = 1;                        // of the entry that is inserted next
  uint32_t random_ = 2'463'534'242;
};

class Memtable final : public rocksdb::MemTableRep {
 public:
  explicit Memtable(rocksdb::Allocator* allocator) : MemTableRep(allocator) {}

  rocksdb::KeyHandle Allocate(size_t size, char** entry) override {
    constexpr size_t kAlignment = alignof(Node);
    char* room = nullptr;
    MemTableRep::Allocate(list_.Overhead() + size + kAlignment - 1, &room);
    room += (kAlignment - reinterpret_cast<uintptr_t>(room) % kAlignment) % kAlignment;
    *entry = list_.EntryIn(room);
    return *entry;
  }
  void Insert(rocksdb::KeyHandle entry) override { InsertKey(entry); }
  bool InsertKey(rocksdb::KeyHandle entry) override { return list_.Insert(static_cast<char*>(entry)); }
  bool Contains(const char* entry) const override {
    const EntryKey key = EntryKey::OfEntry(entry);
    const Node* const found = list_.FirstNotBefore(key);
    return found != nullptr && found->key().Compare(key) == 0;
  }
  void Get(const rocksdb::LookupKey& key, void* arguments, bool (*each)(void* arguments, const char* entry)) override {
    Node* node = list_.FirstNotBefore(EntryKey::OfEntry(key.entry()));
    while (node != nullptr && each(arguments, node->entry())) node = node->Next(0);
  }
  size_t ApproximateMemoryUsage() override { return 0; }  // beside what the allocator counts

  Iterator* GetIterator(rocksdb::Arena* arena) override {
    if (arena == nullptr) return new Position(list_);
    return new (arena->AllocateAligned(sizeof(Position), 0, nullptr)) Position(list_);
  }

 private:
  class Position final : public Iterator {
   public:
    explicit Position(const List& list) : list_(list) {}
    bool Valid() const override { return node_ != nullptr; }
    const char* key() const override { return node_->entry(); }
    void Next() override { node_ = node_->Next(0); }
    void Prev() override { node_ = list_.NodeBefore(node_->key()); }
    void Seek(const rocksdb::Slice& key, const char* entry) override {
      node_ = list_.FirstNotBefore(KeyOf(key, entry));
    }
    void SeekForPrev(const rocksdb::Slice& key, const char* entry) override {
      const EntryKey target = KeyOf(key, entry);
      node_ = list_.FirstNotBefore(target);
      if (node_ == nullptr || node_->key().Compare(target) != 0) node_ = list_.NodeBefore(target);
    }
    void SeekToFirst() override { node_ = list_.First(); }
    void SeekToLast() override { node_ = list_.Last(); }

   private:
    static EntryKey KeyOf(const rocksdb::Slice& key, const char* entry) {
      return entry != nullptr ? EntryKey::OfEntry(entry) : EntryKey::Of(key.data(), key.size());
    }

    const List& list_;
    Node* node_ = nullptr;
  };

  List list_;
};

class Factory final : public rocksdb::MemTableRepFactory {
 public:
  const char* Name() const override { return "braid.memtable"; }
  bool CanHandleDuplicatedKey() const override { return true; }
  rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator& /*order*/,
                                          rocksdb::Allocator* allocator, const rocksdb::SliceTransform* /*prefix*/,
                                          rocksdb::Logger* /*logger*/) override {
    return new Memtable(allocator);
  }
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> NewMemtableFactory() {
  if (ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8) return nullptr;
  return std::make_shared<Factory>();
}

}  // namespace braid::storage
