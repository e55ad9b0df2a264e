#include "engine/wire/crc32c.h"

#include <boost/crc.hpp>

#include "engine/bson/value.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace braid::wire {
namespace internal {

uint32_t Crc32cPortable(std::string_view bytes, uint32_t crc) {
  // Continuing means to take the final inversion back; Boost reflects its initial remainder, so it is reflected here.
  using Castagnoli = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;
  uint32_t remainder = 0;
  for (int bit = 0; bit < 32; ++bit) remainder |= ((~crc >> bit) & 1u) << (31 - bit);
  Castagnoli machine(remainder);
  machine.process_bytes(bytes.data(), bytes.size());
  return machine.checksum();
}

}  // namespace internal

#if defined(__x86_64__)
namespace {
__attribute__((target("sse4.2"))) uint32_t Crc32cSse42(std::string_view bytes, uint32_t crc) {
  uint64_t state = static_cast<uint32_t>(~crc);
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) state = _mm_crc32_u64(state, bson::Load<uint64_t>(bytes.data() + at));
  auto narrow = static_cast<uint32_t>(state);
  for (; at < bytes.size(); ++at) narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(bytes[at]));
  return ~narrow;
}
}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  return has_instruction ? Crc32cSse42(bytes, crc) : internal::Crc32cPortable(bytes, crc);
}
#else
uint32_t Crc32c(std::string_view bytes, uint32_t crc) { return internal::Crc32cPortable(bytes, crc); }
#endif

}  // namespace braid::wire
