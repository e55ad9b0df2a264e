// A batch of events in one transaction: flags, delegations and counters change together (A5, A6).
#pragma once

#include <span>

#include "services/staking/event.h"
#include "services/staking/tables.h"

namespace braid::staking {

/// What became of events.
struct Outcome {
  uint64_t accepted = 0;   // changed the totals
  uint64_t duplicate = 0;  // had done so before
  uint64_t parked = 0;     // unbonded that wait for their active
  uint64_t rejected = 0;   // unprocessable
  uint64_t released = 0;   // parked before, applied now; not one of these events

  Outcome& operator+=(const Outcome& other);
};

/// Events of one state, in one transaction, with the counters of `shard`. What it says is right once the transaction
/// has committed. The events may be in any order and have duplicates.
Result<Outcome> ApplyActive(Transaction& transaction, const Tables& tables, uint32_t shard,
                            std::span<const Event> events);
/// ApplyActive() for events some of which have a delegation without a document of flags, as another program may leave
/// it: there ApplyActive() fails with kDuplicateKey. Slower, for it looks every delegation up.
Result<Outcome> ApplyActiveLooking(Transaction& transaction, const Tables& tables, uint32_t shard,
                                   std::span<const Event> events);
Result<Outcome> ApplyUnbonded(Transaction& transaction, const Tables& tables, uint32_t shard,
                              std::span<const Event> events);

/// Does what is not done yet for these delegations, whatever it is: after a calculation was added.
Result<Outcome> Resume(Transaction& transaction, const Tables& tables, uint32_t shard,
                       std::span<const std::string> hashes);

}  // namespace braid::staking
