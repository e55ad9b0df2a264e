// Removing documents of an epoch beyond the tip, in as many transactions as it takes.
#pragma once

#include "patterns/timeline/state.h"

namespace braid::timeline {

/// Removes the documents beyond the tip of an epoch that was never completed or is being removed; does nothing if the
/// head is clean. Any number of processes may do it at once; a Grow() that was adding the epoch starts again.
Status Clean(Clients& clients, const TimelineOptions& options);

/// Removes the documents that have the mark `epoch`, all of them.
Status RemoveEpoch(Transaction& transaction, const TimelineOptions& options, int64_t epoch);

}  // namespace braid::timeline
