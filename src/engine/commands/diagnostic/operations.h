// The rows of currentOp and $currentOp.
#pragma once

#include <vector>

#include "engine/commands/command.h"

namespace braid::commands {

/// One row an operation being run, its own included; with `idle_cursors` one more for each open cursor.
std::vector<bson::Document> CurrentOperations(EngineParts& engine, bool idle_cursors);

}  // namespace braid::commands
