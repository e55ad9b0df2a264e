// Arena: where computed values live. Expressions return Values that point into the document, into constants of the
// parsed expression, or into the arena of the evaluation; all three outlive the use of the result.
#pragma once

#include <memory_resource>
#include <string_view>

#include "engine/bson/builder.h"
#include "engine/bson/value.h"

namespace braid::bson {

/// Grows while values are made and is released as a whole. Not thread-safe.
class Arena {
 public:
  Arena() : memory_(inline_, sizeof(inline_)) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Room for `size` bytes, to be filled by the caller.
  char* Allocate(size_t size) { return static_cast<char*>(memory_.allocate(size + 1, 8)); }

  /// A copy of the bytes that lives as long as the arena.
  char* Copy(std::string_view bytes) {
    char* copy = Allocate(bytes.size());
    std::memcpy(copy, bytes.data(), bytes.size());
    return copy;
  }
  Value Copy(const Value& value) {
    return {value.type(), Copy(value.bytes()), static_cast<uint32_t>(value.bytes().size())};
  }

  Value Int32(int32_t v) { return Fixed(Type::kInt32, v); }
  Value Int64(int64_t v) { return Fixed(Type::kInt64, v); }
  Value Double(double v) { return Fixed(Type::kDouble, v); }
  Value Decimal(Decimal128 v) { return Fixed(Type::kDecimal128, v); }
  Value DateMillis(int64_t v) { return Fixed(Type::kDate, v); }
  Value TimestampBits(uint64_t v) { return Fixed(Type::kTimestamp, v); }
  Value String(std::string_view text);
  Value ObjectIdBytes(std::string_view twelve_bytes) { return {Type::kObjectId, Copy(twelve_bytes), 12}; }
  Value Object(View document) { return Copy(Value(document)); }
  Value Array(View array) { return {Type::kArray, Copy(array.bytes()), array.size()}; }

  static Value Bool(bool v) {
    static constexpr char kBytes[2] = {0, 1};
    return {Type::kBool, kBytes + (v ? 1 : 0), 1};
  }
  static Value Null() { return {Type::kNull, "", 0}; }

  void Clear() { memory_.release(); }

 private:
  template <typename T>
  Value Fixed(Type type, T v) {
    return {type, Copy(std::string_view(reinterpret_cast<const char*>(&v), sizeof(v))), sizeof(v)};
  }
  alignas(16) char inline_[512];
  std::pmr::monotonic_buffer_resource memory_;
};

inline Value Arena::String(std::string_view text) {
  char* at = static_cast<char*>(memory_.allocate(text.size() + 5, 8));
  const auto size = static_cast<uint32_t>(text.size() + 1);
  std::memcpy(at, &size, 4);
  std::memcpy(at + 4, text.data(), text.size());
  at[4 + text.size()] = '\0';
  return {Type::kString, at, size + 4};
}

}  // namespace braid::bson
