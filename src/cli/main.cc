// braid: reads the command line and runs the subcommand.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "cli/subcommands.h"

// Read by jemalloc: large replies come and go, and giving their memory back to the kernel each time costs more than
// they do. A minute's worth of it is kept. An option by MALLOC_CONF in the environment goes before.
extern "C" const char* malloc_conf;
const char* malloc_conf = "oversize_threshold:0,dirty_decay_ms:60000,muzzy_decay_ms:60000";

namespace {

int Run(int argc, char** argv) {
  CLI::App app("Braid: a sharded document engine that speaks the MongoDB protocol.", "braid");
  app.set_version_flag("--version", "braid " BRAID_VERSION, "Print the version.");
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, braid::cli::Action>> actions;
  for (const braid::cli::Subcommand& subcommand : braid::cli::kSubcommands) {
    CLI::App* parser = app.add_subcommand(subcommand.name, subcommand.help);
    actions.emplace_back(parser, subcommand.set_up(*parser));
  }
  CLI11_PARSE(app, argc, argv);
  for (const auto& [parser, action] : actions) {
    if (!parser->parsed()) continue;
    if (const braid::Status status = action(); !status.ok()) {
      const std::string message(status.message());
      std::fprintf(stderr, "braid %s: %s\n", parser->get_name().c_str(), message.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {  // of a library: our own code returns Status
    std::fprintf(stderr, "braid: %s\n", e.what());
    return 1;
  }
}
