// The subcommands of `braid`: one file each, one line each in the table.
#pragma once

#include <functional>
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
Action SetUpExport(CLI::App& app);
Action SetUpImport(CLI::App& app);
Action SetUpServe(CLI::App& app);
Action SetUpShards(CLI::App& app);

constexpr Subcommand kSubcommands[] = {
    // sorted by name
    {"bench", "Measure a server, beside bare RocksDB.", SetUpBench},
    {"export", "Write the documents of a collection to a file.", SetUpExport},
    {"import", "Read documents from a file into a collection.", SetUpImport},
    {"serve", "Serve a store to MongoDB clients.", SetUpServe},
    {"shards", "Help with sharding: which key to choose.", SetUpShards},
};

}  // namespace braid::cli
