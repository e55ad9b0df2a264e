// The arguments of the commands that read, as queries and pipelines: shared by find, count, distinct and aggregate with
// explain, which runs or plans the same.
#pragma once

#include <memory>
#include <string>

#include "engine/commands/command.h"
#include "engine/exec/pipeline/pipeline.h"
#include "engine/exec/plan/plan.h"

namespace braid::commands {

struct FindArgs {
  catalog::Namespace ns;
  query::Query query;
  int64_t batch_size = 101;
  bool single_batch = false;
  bool no_cursor_timeout = false;
};
/// `request` is the command itself, also inside an explain. The same holds for the other functions.
Result<FindArgs> ParseFind(Call& call, const Request& request);

Result<query::Query> ParseCount(Call& call, const Request& request);

struct DistinctArgs {
  std::string key;
  query::Query query;
};
Result<DistinctArgs> ParseDistinct(Call& call, const Request& request);

struct AggregateArgs {
  catalog::Namespace ns;
  int64_t batch_size = 101;
  bool explain = false;
  bool sharded = false;  // the collection is
  std::unique_ptr<query::Pipeline> pipeline;
};
/// `inside_explain`: the command is part of an explain and needs no `cursor`.
Result<AggregateArgs> ParseAggregate(Call& call, const Request& request, bool inside_explain);

enum class Verbosity { kQueryPlanner, kExecutionStats, kAllPlansExecution };
/// Explains how a pipeline would run, or ran: for an aggregate with {explain: true}, or inside an explain.
Result<bson::Document> ExplainPipeline(Call& call, AggregateArgs& args, Verbosity verbosity);

}  // namespace braid::commands
