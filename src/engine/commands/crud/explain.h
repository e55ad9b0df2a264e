// explain: how a command would run, or ran: stages, bounds, keys and documents examined.
#pragma once

#include "engine/commands/command.h"
#include "engine/commands/crud/aggregate.h"

namespace braid::commands {

enum class Verbosity { kQueryPlanner, kExecutionStats, kAllPlansExecution };

/// aggregate with {explain: true}, or inside an explain.
Result<bson::Document> ExplainPipeline(Call& call, AggregateArgs& args, Verbosity verbosity);

}  // namespace braid::commands
