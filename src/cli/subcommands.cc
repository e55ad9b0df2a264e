// Subcommands that consist of subcommands, usage errors, and the contents of a help text.
#include "cli/subcommands.h"

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

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

void CheckUsage(CLI::App& app, std::function<std::string()> check) {
  app.final_callback([check = std::move(check)] {
    if (const std::string wrong = check(); !wrong.empty()) throw CLI::ValidationError(wrong);
  });
}

std::vector<const CLI::App*> ShownSubcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> ShownOptions(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

}  // namespace braid::cli
