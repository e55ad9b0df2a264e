// Calculations that older delegations lack: done later, on request (A4).
#pragma once

#include <atomic>

#include "services/staking/batch.h"

namespace braid::staking {

/// Does what is missing for every delegation that is known in stats_lock: after a calculation was added, or after a
/// process of another make was killed half-way. May run while others write, and again after a kill. `done` counts keys.
Result<Outcome> Backfill(Clients& clients, const Tables& tables, const std::atomic<bool>& stop,
                         std::atomic<uint64_t>& done);

}  // namespace braid::staking
