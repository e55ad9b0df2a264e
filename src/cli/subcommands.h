// The subcommands of `braid`: one file each, one line each in the table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace braid::cli {

/// The function that runs a subcommand once its options are read.
using Action = std::function<Status()>;

struct Subcommand {
  const char* name;
  const char* help;
  /// Adds the options to the subcommand's parser; they live as long as the action that is returned.
  Action (*set_up)(CLI::App& app);
};

Action SetUpBackup(CLI::App& app);
Action SetUpBench(CLI::App& app);
Action SetUpBenchCounters(CLI::App& app);
Action SetUpBenchExplorer(CLI::App& app);
Action SetUpBenchLedger(CLI::App& app);
Action SetUpBenchShop(CLI::App& app);
Action SetUpCompletion(CLI::App& app);
Action SetUpDemo(CLI::App& app);
Action SetUpExplorer(CLI::App& app);
Action SetUpExport(CLI::App& app);
Action SetUpImport(CLI::App& app);
Action SetUpInit(CLI::App& app);
Action SetUpManual(CLI::App& app);
Action SetUpRestore(CLI::App& app);
Action SetUpServe(CLI::App& app);
Action SetUpSettlement(CLI::App& app);
Action SetUpShards(CLI::App& app);
Action SetUpShop(CLI::App& app);
Action SetUpStaking(CLI::App& app);
Action SetUpVerify(CLI::App& app);

/// A subcommand that is made of subcommands, one of which must be given.
Action SetUpNested(CLI::App& app, std::span<const Subcommand> subcommands);

/// A check of a combination of options: `check` returns the error, or nothing. It is called once all options are read,
/// and its error is a usage error. One per subcommand.
void CheckUsage(CLI::App& app, std::function<std::string()> check);

/// The subcommands and options that a help text shows.
std::vector<const CLI::App*> ShownSubcommands(const CLI::App& app);
std::vector<const CLI::Option*> ShownOptions(const CLI::App& app);

constexpr Subcommand kSubcommands[] = {
    // sorted by name
    {"backup", "Copy a whole store, of a running server or of a directory.", SetUpBackup},
    {"bench", "Measure a server, compared with bare RocksDB.", SetUpBench},
    {"completion", "Print a script that completes command lines of braid in a shell.", SetUpCompletion},
    {"demo", "Try Braid out: a store with a live load of every service, and a guide to it.", SetUpDemo},
    {"explorer", "Block explorer index: import epochs, follow a node, query blocks and transactions.", SetUpExplorer},
    {"export", "Write the documents of a collection to a file.", SetUpExport},
    {"import", "Read documents from a file into a collection.", SetUpImport},
    {"init", "Create the collections of the services, or show where they differ.", SetUpInit},
    {"manual", "Write the man pages.", SetUpManual},
    {"restore", "Make a store from a backup.", SetUpRestore},
    {"serve", "Serve a store to MongoDB clients.", SetUpServe},
    {"settlement", "Settlement log: append a matching engine's outputs, verify, prove, repair.", SetUpSettlement},
    {"shards", "Help with sharding: which key to choose.", SetUpShards},
    {"shop", "Storefront: run operations, import invoices, report.", SetUpShop},
    {"staking", "Staking statistics: count events, query totals, audit them.", SetUpStaking},
    {"verify", "Read everything in a store or a backup, and report damage.", SetUpVerify},
};

}  // namespace braid::cli
