#include "engine/commands/snapshots.h"

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::commands {
namespace {
constexpr std::chrono::minutes kKeptFor{5};
constexpr size_t kKeptMax = 256;
}  // namespace

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
