// The bytes of a segment's data (braid/chains.h) that its writer and its reader must agree on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace braid::chains {

constexpr uint8_t kVersion = 2;
constexpr uint8_t kPlain = 0;
constexpr uint8_t kZstandard = 1;
constexpr size_t kSealAt = 36;
constexpr size_t kHeaderBytes = 44;
constexpr size_t kHashBytes = 32;
constexpr size_t kRecordHeaderBytes = 16;

}  // namespace braid::chains
