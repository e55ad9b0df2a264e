// Reload: applies changes of the configuration file to a running server on SIGHUP.
#pragma once

#include "cli/config.h"
#include "engine/wire/server.h"

namespace braid::cli {

/// The log's level and the greatest number of connections change at once. Other options that differ from those in use
/// are named in the log: they need a restart. One thread.
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
