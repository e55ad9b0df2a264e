// The compressors of OP_COMPRESSED.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::wire {

enum class Compressor : uint8_t { kNoop = 0, kSnappy = 1, kZlib = 2, kZstd = 3 };

/// The compressor of that number; kProtocolError if there is none.
Result<Compressor> CompressorOf(uint8_t id);

/// Fills exactly `size` bytes at `to`; kProtocolError if `compressed` is damaged or holds more or fewer bytes.
Status Decompress(Compressor compressor, std::string_view compressed, char* to, size_t size);

/// Appends the compressed form of `bytes` to `out`.
void Compress(Compressor compressor, std::string_view bytes, std::string& out);

}  // namespace braid::wire
