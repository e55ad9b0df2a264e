// A batch of events in one transaction: flags, delegations and counters change together (A5, A6).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "services/staking/event.h"
#include "services/staking/tables.h"

namespace braid::staking {

/// The results for events.
struct Outcome {
  uint64_t accepted = 0;     // changed the totals
  uint64_t duplicate = 0;    // had done so before
  uint64_t conflicting = 0;  // active with a known hash but another amount, staker or finality provider
  uint64_t parked = 0;       // unbonded that wait for their active
  uint64_t rejected = 0;     // unprocessable
  uint64_t released = 0;     // parked before, applied now; not one of these events

  Outcome& operator+=(const Outcome& other);
};

/// An event that contradicts the delegation of its hash; the delegation stays as it is.
struct Conflict {
  size_t line = 0;  // of the event
  std::string reason;
};

/// Applies events of one state in one transaction, with the counters of `shard`. The result is valid once the
/// transaction has committed. The events may be in any order and have duplicates. `conflicts` is set anew. kOverflow if
/// a total would not fit in 64 bits: nothing is kept of the transaction then.
Result<Outcome> ApplyActive(Transaction& transaction, const Tables& tables, uint32_t shard,
                            std::span<const Event> events, std::vector<Conflict>& conflicts);
/// ApplyActive() for events some of which have a delegation without a document of flags, as another program may leave
/// it: there ApplyActive() fails with kDuplicateKey. Slower, because it looks up every delegation.
Result<Outcome> ApplyActiveLooking(Transaction& transaction, const Tables& tables, uint32_t shard,
                                   std::span<const Event> events, std::vector<Conflict>& conflicts);
Result<Outcome> ApplyUnbonded(Transaction& transaction, const Tables& tables, uint32_t shard,
                              std::span<const Event> events, std::vector<Conflict>& conflicts);

/// Does the calculations that are missing for these delegations, after a calculation was added.
Result<Outcome> Resume(Transaction& transaction, const Tables& tables, uint32_t shard,
                       std::span<const std::string> hashes);

}  // namespace braid::staking
