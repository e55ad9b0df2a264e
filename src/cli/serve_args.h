// The options of braid serve, and Reload: applies changes of the configuration file to a running server on SIGHUP.
#pragma once

#include <chrono>
#include <string>

#include "braid/status.h"
#include "cli/config.h"
#include "cli/serve_http.h"
#include "engine/commands/engine.h"
#include "engine/wire/server.h"

namespace CLI {
class App;
}

namespace braid::cli {

struct ServeArgs {
  std::string store = "./data";
  bool check_config = false;
  std::string log_level = "info";
  std::string log_format = "text";
  int64_t slow_millis = 100;
  std::string log_file;  // empty: standard error
  int lifetime_seconds = 60;
  commands::EngineOptions engine;
  HttpArgs http;
  /// How many ports are tried, from the given one upwards, until one is free.
  uint16_t ports = 1;
  uint16_t http_ports = 1;
  wire::ServerOptions server{.stop_grace =
                                 std::chrono::seconds(3)};  // the whole shutdown should take less than five seconds
};

void AddServeOptions(CLI::App& app, ServeArgs& args);

/// Checks the combination of options without opening the store or a port, and fills in the engine's options.
Status CheckServeArgs(ServeArgs& args);

/// Lowers the number of connections, with a line in the log, if the system does not allow enough open files for them
/// and the store. kBadValue if it does not allow any.
Status FitConnections(ServeArgs& args);

/// Applies changes of the configuration file to a running server. The log's level and the greatest number of
/// connections change at once. Other options that differ from those in use are named in the log: they need a restart.
/// One thread.
class Reload {
 public:
  /// The options of the command line and the environment, and those in use together with the file.
  Reload(GivenOptions command_line, GivenOptions in_use, wire::Server& server)
      : command_line_(std::move(command_line)), in_use_(std::move(in_use)), server_(server) {}

  /// Reads the file again. If it cannot be read or is wrong, nothing changes. Whatever happens is in the log.
  void Run();

 private:
  Status ReadAgain();

  const GivenOptions command_line_;
  GivenOptions in_use_;
  wire::Server& server_;
};

}  // namespace braid::cli
