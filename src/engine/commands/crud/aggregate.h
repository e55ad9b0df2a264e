// The arguments of aggregate as a Pipeline; shared by aggregate and its explain.
#pragma once

#include "engine/commands/command.h"
#include "engine/query/pipeline/pipeline.h"

namespace braid::commands {

struct AggregateArgs {
  catalog::Namespace ns;
  int64_t batch_size = 101;
  bool explain = false;
  std::unique_ptr<query::Pipeline> pipeline;
};

/// `inside_explain`: the command stands in an explain and needs no `cursor`.
Result<AggregateArgs> ParseAggregate(Call& call, const Request& request, bool inside_explain);

}  // namespace braid::commands
