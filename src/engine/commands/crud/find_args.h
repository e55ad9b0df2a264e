// The arguments of find as a Query; shared by find and its explain.
#pragma once

#include "engine/commands/command.h"
#include "engine/query/plan/executor.h"

namespace braid::commands {

struct FindArgs {
  catalog::Namespace ns;
  query::Query query;
  int64_t batch_size = 101;
  bool single_batch = false;
  bool no_cursor_timeout = false;
};

/// `request` is the find command itself, also inside an explain.
Result<FindArgs> ParseFind(Call& call, const Request& request);

}  // namespace braid::commands
