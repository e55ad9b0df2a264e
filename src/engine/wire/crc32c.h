// CRC-32C (Castagnoli), the checksum an OP_MSG may carry.
#pragma once

#include <cstdint>
#include <string_view>

namespace braid::wire {

/// The checksum of `bytes`; to continue over further bytes, pass the previous result as `crc`.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

namespace internal {
/// The portable way, for processors without the instruction and for the test that compares the two.
uint32_t Crc32cPortable(std::string_view bytes, uint32_t crc);
}  // namespace internal

}  // namespace braid::wire
