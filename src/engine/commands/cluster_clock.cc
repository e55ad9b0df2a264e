#include "engine/commands/cluster_clock.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::commands {
namespace {

constexpr uint64_t kFutureSecondsMax = 365 * 24 * 3600;

constexpr std::chrono::minutes kKeptFor{5};
constexpr size_t kKeptMax = 256;

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

void Snapshots::Keep(uint64_t time, const storage::Snapshot& snapshot) {
  BRAID_ASSERT(!snapshot.empty());  // an empty one would read the newest state at every use
  const MutexLock lock(mu_);
  kept_.insert_or_assign(time, Kept{snapshot, clock_.Now()});
  if (kept_.size() > kKeptMax) kept_.erase(kept_.begin());
}

Result<storage::Snapshot> Snapshots::Find(uint64_t time) {
  const MutexLock lock(mu_);
  const auto at = kept_.find(time);
  if (at == kept_.end()) {
    return Status(Code::kSnapshotTooOld,
                  StrCat("Read timestamp Timestamp(", time >> 32, ", ", time & 0xffffffff,
                         ") is not available: the state of that moment is not kept. Start a new snapshot session."));
  }
  at->second.used = clock_.Now();
  return at->second.snapshot;
}

void Snapshots::Sweep() {
  const auto now = clock_.Now();
  const MutexLock lock(mu_);
  std::erase_if(kept_, [&](const auto& entry) { return now - entry.second.used > kKeptFor; });
}

size_t Snapshots::size() const {
  const MutexLock lock(mu_);
  return kept_.size();
}

}  // namespace braid::commands
