// Big-endian integers in byte formats: keys that sort as their numbers do, and bytes that are hashed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace braid::big_endian {

static_assert(std::endian::native == std::endian::little);

inline void Put32(uint8_t* to, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof(value));
}
inline void Put64(uint8_t* to, int64_t value) {
  const uint64_t swapped = __builtin_bswap64(static_cast<uint64_t>(value));
  std::memcpy(to, &swapped, sizeof(swapped));
}

inline uint32_t Get32(const char* from) {
  uint32_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return __builtin_bswap32(value);
}
inline int64_t Get64(const char* from) {
  uint64_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return static_cast<int64_t>(__builtin_bswap64(value));
}

/// The number that these bytes (at most 8) encode.
inline uint64_t Get(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

/// Appends the bytes to a text.
inline void Append32(std::string& to, uint32_t value) {
  uint8_t bytes[4];
  Put32(bytes, value);
  to.append(reinterpret_cast<const char*>(bytes), sizeof(bytes));
}
inline void Append64(std::string& to, int64_t value) {
  uint8_t bytes[8];
  Put64(bytes, value);
  to.append(reinterpret_cast<const char*>(bytes), sizeof(bytes));
}

/// The lowest `size` bytes of a value.
inline void Append(std::string& to, uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) to.push_back(static_cast<char>(value >> shift));
}

}  // namespace braid::big_endian
