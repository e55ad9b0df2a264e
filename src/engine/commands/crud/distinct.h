// The arguments of distinct; shared by distinct and its explain.
#pragma once

#include "engine/commands/command.h"
#include "engine/query/plan/executor.h"

namespace braid::commands {
struct DistinctArgs {
  std::string key;
  query::Query query;
};
Result<DistinctArgs> ParseDistinct(Call& call, const Request& request);
}  // namespace braid::commands
