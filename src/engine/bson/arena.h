// Arena: memory for computed values. Expressions return Values that point into the document, into constants of the
// parsed expression, or into the arena of the evaluation; all three outlive the use of the result.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/work.h"
#include "engine/bson/builder.h"
#include "engine/bson/value.h"

namespace braid::bson {

/// Grows while values are made; is released as a whole, or back to a mark. Not thread-safe.
class Arena {
 public:
  /// The kind of values that the arena holds. Those of a query are limited (Work): a value that does not fit is
  /// replaced by an empty one of its type, and the work's next Tick() is an error. The caller calls Tick() before using
  /// the result.
  enum class Use { kInternal, kQuery };
  explicit Arena(Use use = Use::kInternal) : limited_(use == Use::kQuery), at_(inline_), end_(inline_ + kInline) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Room for `size` bytes, to be filled by the caller; for small sizes only.
  char* Allocate(size_t size) {
    if (static_cast<size_t>(end_ - at_) < size + kAlignment) AddChunk(size, /*force=*/true);
    return Take(size);
  }
  /// The same for any size; null if the limit does not allow it.
  char* TryAllocate(size_t size) {
    if (static_cast<size_t>(end_ - at_) < size + kAlignment && !AddChunk(size, /*force=*/false)) return nullptr;
    return Take(size);
  }

  /// A copy of the bytes that lives as long as the arena; for small values only.
  char* Copy(std::string_view bytes) {
    char* copy = Allocate(bytes.size());
    std::memcpy(copy, bytes.data(), bytes.size());
    return copy;
  }
  Value Copy(const Value& value);

  Value Int32(int32_t v) { return Fixed(Type::kInt32, v); }
  Value Int64(int64_t v) { return Fixed(Type::kInt64, v); }
  Value Double(double v) { return Fixed(Type::kDouble, v); }
  Value Decimal(Decimal128 v) { return Fixed(Type::kDecimal128, v); }
  Value DateMillis(int64_t v) { return Fixed(Type::kDate, v); }
  Value TimestampBits(uint64_t v) { return Fixed(Type::kTimestamp, v); }
  Value String(std::string_view text);
  Value ObjectIdBytes(std::string_view twelve_bytes) { return {Type::kObjectId, Copy(twelve_bytes), 12}; }
  Value Object(View document) { return Copy(Value(document)); }
  Value Array(View array) { return Copy(Value(Type::kArray, array.data(), array.size())); }

  static Value Bool(bool v) {
    static constexpr char kBytes[2] = {0, 1};
    return {Type::kBool, kBytes + (v ? 1 : 0), 1};
  }
  static Value Null() { return {Type::kNull, "", 0}; }
  /// The replacement for a value that does not fit.
  static Value Empty(Type type);

  /// A point to rewind to: everything allocated before it stays.
  struct Mark {
    size_t chunks;
    char* at;
    size_t used;
  };
  Mark mark() const { return {chunks_.size(), at_, used_ + static_cast<size_t>(at_ - start())}; }
  /// Bytes handed out since the mark.
  size_t UsedSince(const Mark& mark) const { return used_ + static_cast<size_t>(at_ - start()) - mark.used; }
  /// Frees everything since the mark except the value, which may move.
  Value Compact(const Mark& mark, const Value& value);
  void Clear();

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  static constexpr size_t kInline = 512;
  static constexpr size_t kAlignment = 8;

  char* Take(size_t size) {
    char* const taken = at_;
    at_ += (size + kAlignment) & ~(kAlignment - 1);
    return taken;
  }
  const char* start() const { return chunks_.empty() ? inline_ : chunks_.back().bytes.get(); }
  bool AddChunk(size_t size, bool force);
  void Rewind(const Mark& mark);
  bool HoldsSince(const Mark& mark, const char* bytes) const;

  template <typename T>
  Value Fixed(Type type, T v) {
    return {type, Copy(std::string_view(reinterpret_cast<const char*>(&v), sizeof(v))), sizeof(v)};
  }

  const bool limited_;
  char* at_;
  char* end_;
  size_t used_ = 0;  // in the chunks before the last
  size_t chunk_bytes_ = 0;
  std::vector<Chunk> chunks_;
  HeldMemory held_;
  alignas(16) char inline_[kInline];
};

}  // namespace braid::bson
