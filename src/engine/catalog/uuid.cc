#include "engine/catalog/uuid.h"

#include "base/random.h"

namespace braid::catalog {

std::string MakeUuid() {
  uint64_t halves[2] = {RandomSeed(), RandomSeed()};
  std::string bytes(reinterpret_cast<const char*>(halves), 16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  return bytes;
}

}  // namespace braid::catalog
