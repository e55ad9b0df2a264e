// braid serve: a store, answered for over TCP until SIGINT or SIGTERM.
#include <signal.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "base/log.h"
#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/config.h"
#include "cli/subcommands.h"
#include "engine/commands/engine.h"
#include "engine/wire/engine_handler.h"
#include "engine/wire/server.h"

namespace braid::cli {
namespace {

struct ServeArgs {
  std::string store = "./data";
  std::string log_level = "info";
  int lifetime_seconds = 60;
  commands::EngineOptions engine;
  wire::ServerOptions server;
};

const std::vector<std::string>& LogLevels() {
  static const std::vector<std::string> levels = {"trace", "debug", "info", "warning", "error", "off"};
  return levels;
}

void AddServeOptions(CLI::App& app, ServeArgs& args) {
  app.add_option("--store", args.store, "Directory of the data; created if absent.")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--shards", args.engine.shards, "Logical shards of new sharded collections, 1 to 1024.")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--bind", args.server.addresses,
                 "Loopback address to listen on: 127.0.0.1, ::1 or localhost. May be given more than once.")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--port", args.server.port, "TCP port; 0 takes a free one.")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT")
      ->capture_default_str();
  app.add_option("--cache-size", args.engine.cache_bytes,
                 "Memory for cached data and unwritten changes, such as 512MB or 4GB; at least 16MB.")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE")
      ->default_str("512MB");
  app.add_option("--max-connections", args.server.connections_max, "Connections at a time; further ones are refused.")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--transaction-lifetime", args.lifetime_seconds,
                 "Seconds that a transaction may be open; then it is aborted.")
      ->check(CLI::Range(1, 86'400))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--log-level", args.log_level,
                 "Least serious event to log: trace, debug, info, warning, error or off.")
      ->check(CLI::IsMember(LogLevels()))
      ->type_name("LEVEL")
      ->capture_default_str();
  app.add_flag("--test-commands", args.engine.test_commands,
               "Allow configureFailPoint, with which any client can make commands fail. For tests only.");
  AddConfigOption(app);
}

Status CheckStore(const std::string& store) {
  if (IsUri(store)) {
    return Status(Code::kBadValue, StrCat("--store ", store,
                                          ": serve keeps its own data and needs a directory, such as --store ./data; "
                                          "to use that server, connect your client to it directly"));
  }
  if (store.empty()) return Status(Code::kBadValue, "--store needs a directory, such as --store ./data");
  return {};
}

// A connection is a descriptor, and so is a table file.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) log::warn("the limit of open files stays low: see ulimit -n");
}

// Threads inherit the mask: call before the first one starts, so that only AwaitSignal() sees the signals.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

Status RunServe(CLI::App& app, ServeArgs& args) {
  BRAID_CHECK_OK(ApplyConfig(app));
  BRAID_CHECK_OK(CheckStore(args.store));
  log::Init(log::LevelOf(args.log_level));
  RaiseDescriptorLimit();
  const sigset_t signals = BlockSignals();

  // The port first: its number goes into the engine's replies, and a port in use is found before the store is touched.
  BRAID_TRY(const std::unique_ptr<wire::Server> server, wire::Server::Listen(args.server));
  args.engine.directory = args.store;
  args.engine.transaction_lifetime = std::chrono::seconds(args.lifetime_seconds);
  args.engine.advertised_host = server->address();
  BRAID_CHECK_OK(args.engine.Validate());
  BRAID_TRY(const std::unique_ptr<commands::Engine> engine, commands::Engine::Open(args.engine));
  engine->SetConnectionFigures([&server] { return server->Figures(); });
  wire::EngineHandler handler(*engine);
  server->Serve(handler);
  std::printf("braid: listening on mongodb://%s\n", server->address().c_str());
  std::fflush(stdout);

  int signal = 0;
  sigwait(&signals, &signal);
  log::info("{}: finishing the requests that run", signal == SIGINT ? "SIGINT" : "SIGTERM");
  server->Stop();
  engine->BeginShutdown();
  return {};
}

}  // namespace

Action SetUpServe(CLI::App& app) {
  const auto args = std::make_shared<ServeArgs>();
  AddServeOptions(app, *args);
  return [&app, args] { return RunServe(app, *args); };
}

}  // namespace braid::cli
