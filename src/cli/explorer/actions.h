// The subcommands of `braid explorer`: one file each, but for the queries that differ in little.
#pragma once

#include "cli/subcommands.h"

namespace braid::cli::explorer {

Action SetUpAccount(CLI::App& app);
Action SetUpBlock(CLI::App& app);
Action SetUpBlockTransactions(CLI::App& app);
Action SetUpBlocks(CLI::App& app);
Action SetUpEpoch(CLI::App& app);
Action SetUpGenerate(CLI::App& app);
Action SetUpImport(CLI::App& app);
Action SetUpLatest(CLI::App& app);
Action SetUpMiner(CLI::App& app);
Action SetUpMiners(CLI::App& app);
Action SetUpNode(CLI::App& app);
Action SetUpPivot(CLI::App& app);
Action SetUpPop(CLI::App& app);
Action SetUpReorgs(CLI::App& app);
Action SetUpStatus(CLI::App& app);
Action SetUpSync(CLI::App& app);
Action SetUpTransaction(CLI::App& app);
Action SetUpTransactions(CLI::App& app);
Action SetUpVerify(CLI::App& app);

}  // namespace braid::cli::explorer
