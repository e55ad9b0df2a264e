// --store of the client subcommands: a server's URI, or a directory that is opened for the time of the subcommand.
#pragma once

#include <memory>
#include <string>

#include "braid/clients.h"

namespace CLI {
class App;
}

namespace braid::cli {

/// Adds --store DIR|mongodb://…
void AddStoreOption(CLI::App& app, std::string& store);

/// The store that the option names; what the engine logs below a warning is not shown.
Result<std::unique_ptr<Clients>> OpenStore(const std::string& store);

/// The directory that holds the store, so that what is put there is on the same disk; "." for a URI.
std::string DirectoryBeside(const std::string& store);

}  // namespace braid::cli
