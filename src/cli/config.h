// The sources of a subcommand's options: the command line, the environment, a configuration file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

/// The environment variable of an option: "cache-size" has BRAID_CACHE_SIZE.
std::string EnvironmentName(std::string_view option);
/// Reads the environment for the options that the command line does not give, --config among them. Lists are separated
/// by commas; an empty variable is none. kBadValue names the variable.
Status ApplyEnvironment(CLI::App& app);
/// Reads the file given by --config, if any, for the options that neither of them gives. kBadValue names the file, the
/// place and the key.
Status ApplyConfig(CLI::App& app);

/// True for the options that are neither keys of the file nor variables: they are about this one run.
bool IsOfOneRun(std::string_view option);

/// The options that were given a value, by name without the dashes: before ApplyConfig() those of the command line.
using GivenOptions = std::map<std::string, std::vector<std::string>>;
GivenOptions OptionsGiven(const CLI::App& app);
/// The values of all options as a configuration file, each with where it comes from. `flags` were given on the command
/// line, `outside` there or in the environment.
std::string EffectiveConfig(const CLI::App& app, const GivenOptions& flags, const GivenOptions& outside);
/// Gives the same values to a subcommand that has parsed nothing. kBadValue names the option.
Status GiveOptions(CLI::App& app, const GivenOptions& given);

}  // namespace braid::cli
