// The subcommands of `braid shop`: one file each.
#pragma once

#include "cli/subcommands.h"

namespace braid::cli::shop {

Action SetUpDo(CLI::App& app);
Action SetUpImport(CLI::App& app);
Action SetUpReport(CLI::App& app);

}  // namespace braid::cli::shop
