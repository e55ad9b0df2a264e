// A configuration file for a subcommand's options.
#pragma once

#include <string>

#include "braid/status.h"

namespace CLI {
class App;
}

namespace braid::cli {

/// Adds --config to the subcommand. The file is TOML, its keys are the names of the options without the dashes:
///   port = 27018
///   cache-size = "1GB"
///   bind = ["127.0.0.1", "::1"]
void AddConfigOption(CLI::App& app);

/// Reads the file given by --config, if any, for the options that the command line does not give. kBadValue names the
/// file, the place and the key.
Status ApplyConfig(CLI::App& app);

}  // namespace braid::cli
