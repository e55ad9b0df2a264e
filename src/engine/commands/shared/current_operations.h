// The rows of currentOp and $currentOp.
#pragma once

#include <vector>

#include "engine/commands/command.h"

namespace braid::commands {

/// What is shown besides running operations.
struct IdleRows {
  bool cursors = false;  // that are open
  bool sessions = true;  // with an open transaction that waits for its next statement
};
/// One row per operation being run, its own included, and the idle ones that are asked for.
std::vector<bson::Document> CurrentOperations(EngineParts& engine, IdleRows idle);

}  // namespace braid::commands
