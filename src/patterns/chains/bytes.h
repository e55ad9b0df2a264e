// Big-endian integers in the byte formats of chains.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace braid::chains {

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

/// At the end of a text.
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

}  // namespace braid::chains
