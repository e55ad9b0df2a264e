// The subcommands of `braid`: one file each, one line each in the table.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "braid/status.h"

namespace CLI {
class App;
}

namespace braid::cli {

/// What a subcommand does once its options are read.
using Action = std::function<Status()>;

struct Subcommand {
  const char* name;
  const char* help;
  /// Adds the options to the subcommand's parser; they live as long as the action that is returned.
  Action (*set_up)(CLI::App& app);
};

Action SetUpBench(CLI::App& app);
Action SetUpBenchCounters(CLI::App& app);
Action SetUpBenchLedger(CLI::App& app);
Action SetUpBenchShop(CLI::App& app);
Action SetUpExport(CLI::App& app);
Action SetUpImport(CLI::App& app);
Action SetUpInit(CLI::App& app);
Action SetUpServe(CLI::App& app);
Action SetUpSettlement(CLI::App& app);
Action SetUpShards(CLI::App& app);
Action SetUpShop(CLI::App& app);
Action SetUpStaking(CLI::App& app);

/// A subcommand that is made of subcommands, one of which must be given.
Action SetUpNested(CLI::App& app, std::span<const Subcommand> subcommands);

constexpr Subcommand kSubcommands[] = {
    // sorted by name
    {"bench", "Measure a server, beside bare RocksDB.", SetUpBench},
    {"export", "Write the documents of a collection to a file.", SetUpExport},
    {"import", "Read documents from a file into a collection.", SetUpImport},
    {"init", "Create the collections of the services, or show where they differ.", SetUpInit},
    {"serve", "Serve a store to MongoDB clients.", SetUpServe},
    {"settlement", "Settlement log: take in a matching engine's outputs, verify, prove, repair.", SetUpSettlement},
    {"shards", "Help with sharding: which key to choose.", SetUpShards},
    {"shop", "Storefront: run operations, take in invoices, report.", SetUpShop},
    {"staking", "Staking statistics: take in events, ask for totals, check them.", SetUpStaking},
};

}  // namespace braid::cli
