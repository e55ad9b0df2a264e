// A subcommand that is made of subcommands.
#include <CLI/CLI.hpp>
#include <vector>

#include "cli/subcommands.h"

namespace braid::cli {

Action SetUpNested(CLI::App& app, std::span<const Subcommand> subcommands) {
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Subcommand& subcommand : subcommands) {
    CLI::App* parser = app.add_subcommand(subcommand.name, subcommand.help);
    actions.emplace_back(parser, subcommand.set_up(*parser));
  }
  return [actions = std::move(actions)]() -> Status {
    for (const auto& [parser, action] : actions) {
      if (parser->parsed()) return action();
    }
    return {};
  };
}

}  // namespace braid::cli
