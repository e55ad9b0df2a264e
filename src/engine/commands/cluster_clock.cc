#include "engine/commands/cluster_clock.h"

#include <algorithm>

namespace braid::commands {
namespace {
constexpr uint64_t kFutureSecondsMax = 365 * 24 * 3600;
}  // namespace

uint64_t ClusterClock::Tick() {
  uint64_t before = now_.load(std::memory_order_relaxed);
  uint64_t after;
  do {
    after = std::max(before + 1, Seconds() << 32 | 1);
  } while (!now_.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  return after;
}

void ClusterClock::Advance(uint64_t seen) {
  if ((seen >> 32) > Seconds() + kFutureSecondsMax) return;
  uint64_t before = now_.load(std::memory_order_relaxed);
  while (before < seen && !now_.compare_exchange_weak(before, seen, std::memory_order_acq_rel)) {
  }
}

}  // namespace braid::commands
