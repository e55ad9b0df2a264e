// Applying the log to some generations of views.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/workers.h"
#include "services/settlement/views/generation.h"
#include "services/settlement/views/marks.h"
#include "services/settlement/views/view_changes.h"

namespace braid::settlement::views {

/// The parts that Views shares with its functions.
struct Core {
  Core(Clients& store, const ViewsOptions& chosen) : clients(store), options(chosen), workers(chosen.workers - 1) {}

  Clients& clients;
  const ViewsOptions options;
  std::unique_ptr<Chains> chains;
  Workers workers;

  /// kInterrupted if asked to stop.
  Status CheckStop() const;
  TransactionOptions InTransaction() const { return {.database = options.database, .stop = options.stop}; }
};

/// A generation that is applied to.
struct Target {
  View view;
  int64_t generation = 0;
  std::string collection;  ///< that has the documents
};

/// Applies the log from the targets' marks to the chains' heads and adds to the report. If a target fails, the others
/// continue; the first error is returned. kConflictingOperationInProgress: a target was replaced; kInterrupted: asked
/// to stop, whatever error the interrupted transaction gave.
Status FollowTargets(Core& core, std::vector<Target> targets, const FollowOptions& options, FollowReport& report);

}  // namespace braid::settlement::views
