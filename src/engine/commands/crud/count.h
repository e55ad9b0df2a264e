// The arguments of count as a Query; shared by count and its explain.
#pragma once

#include "engine/commands/command.h"
#include "engine/query/plan/executor.h"

namespace braid::commands {
Result<query::Query> ParseCount(Call& call, const Request& request);
}  // namespace braid::commands
