#include "cli/reload.h"

#include <CLI/CLI.hpp>
#include <set>

#include "base/log.h"
#include "base/strings.h"
#include "cli/serve_args.h"

namespace braid::cli {
namespace {

// Options with different values, those that only one side gives included.
std::set<std::string> Different(const GivenOptions& a, const GivenOptions& b) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b}) {
    for (const auto& [name, values] : *side) {
      const auto in_a = a.find(name);
      const auto in_b = b.find(name);
      if (in_a == a.end() || in_b == b.end() || in_a->second != in_b->second) names.insert(name);
    }
  }
  return names;
}

}  // namespace

Status Reload::ReadAgain() {
  CLI::App app("", "serve");
  ServeArgs args;
  AddServeOptions(app, args);
  BRAID_CHECK_OK(GiveOptions(app, command_line_));
  BRAID_CHECK_OK(ApplyConfig(app));
  BRAID_CHECK_OK(CheckServeArgs(args));
  const GivenOptions now = OptionsGiven(app);
  for (const std::string& name : Different(in_use_, now)) {
    if (name == "log-level") {
      log::info("SIGHUP: the log level is now {}", args.log_level);
      log::SetLevel(log::LevelOf(args.log_level));
    } else if (name == "max-connections") {
      BRAID_CHECK_OK(FitConnections(args));
      server_.SetConnectionsMax(args.server.connections_max);
      log::info("SIGHUP: {} connections are allowed now", args.server.connections_max);
    } else {
      log::warn("SIGHUP: {} has another value in the file, which needs a restart", name);
      continue;
    }
    in_use_.erase(name);
    if (const auto given = now.find(name); given != now.end()) in_use_.insert(*given);
  }
  return {};
}

void Reload::Run() {
  if (!command_line_.contains("config")) {
    return log::info("SIGHUP: there is no configuration file to read again, the server was started without --config");
  }
  if (const Status status = ReadAgain(); !status.ok()) {
    return log::error("SIGHUP: the configuration was not changed: {}", status.message());
  }
  log::info("SIGHUP: the configuration file was read again");
}

}  // namespace braid::cli
