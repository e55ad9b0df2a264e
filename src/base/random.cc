#include "base/random.h"

namespace braid {
uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}
}  // namespace braid
