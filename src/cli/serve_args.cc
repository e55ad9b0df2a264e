#include "cli/serve_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <vector>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/config.h"

namespace braid::cli {
namespace {

constexpr uint64_t kConnectionsLeast = 8;

const std::vector<std::string>& LogLevels() {
  static const std::vector<std::string> levels = {"trace", "debug", "info", "warning", "error", "off"};
  return levels;
}

// It must be the name of a directory.
Status CheckServedStore(const std::string& store) {
  if (store.empty()) return Status(Code::kBadValue, "--store needs a directory, such as --store ./data");
  if (!IsUri(store)) return CheckStoreName(store);
  return Status(Code::kBadValue, StrCat("--store ", store,
                                        ": a server keeps its own data and needs a directory, such as --store ./data; "
                                        "to use that server, connect your client to it directly"));
}

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
  AddHttpOptions(app, args.http);
  app.add_option("--cache-size", args.engine.cache_bytes,
                 "Memory for cached data and unwritten changes, such as 512MB or 4GB; at least 16MB.")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE")
      ->default_str("512MB");
  app.add_option("--memory-limit", args.engine.memory_limit_bytes,
                 "Memory that all requests together may use, besides the cache; a request that needs more gets an "
                 "error. By default a quarter of the machine's memory.")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  app.add_option("--threads", args.server.threads_max,
                 "The most threads that run requests. Waiting requests need none.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-connections", args.server.connections_max, "Connections at a time; further ones are refused.")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--transaction-lifetime", args.lifetime_seconds,
                 "Seconds that a transaction may stay open before it is aborted.")
      ->check(CLI::Range(1, 86'400))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--log-level", args.log_level,
                 "Least serious event to log: trace, debug, info, warning, error or off.")
      ->check(CLI::IsMember(LogLevels()))
      ->type_name("LEVEL")
      ->capture_default_str();
  app.add_option("--log-file", args.log_file,
                 "File that the log is appended to, instead of standard error; reopened on SIGUSR1.")
      ->type_name("FILE");
  app.add_option("--log-format", args.log_format, "Lines of the log: text, or json for one JSON object per line.")
      ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--slow-ms", args.slow_millis,
                 "Milliseconds from which an operation counts as slow: it is logged, and profiled at level 1.")
      ->check(CLI::Range(0, 86'400'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--accept-loss", args.engine.accept_loss,
               "Open a store that has lost acknowledged writes instead of refusing it; the log says what is missing.");
  app.add_flag("--test-commands", args.engine.test_commands,
               "Allow configureFailPoint, with which any client can make commands fail. For tests only.");
  AddConfigOption(app);
  app.add_flag("--check-config", args.check_config,
               "Check all options, print them as a configuration file, and exit: with 0, or 2 if something is wrong. "
               "Neither the store nor a port is opened.");
  app.footer(
      "Every option is also a key of the configuration file and a variable of the environment: --cache-size "
      "is\ncache-size and BRAID_CACHE_SIZE. The command line takes precedence over the environment, and the "
      "environment over the file.");
}

Status CheckServeArgs(ServeArgs& args) {
  BRAID_CHECK_OK(CheckServedStore(args.store));
  args.engine.directory = args.store;
  args.engine.transaction_lifetime = std::chrono::seconds(args.lifetime_seconds);
  args.engine.slow = std::chrono::milliseconds(args.slow_millis);
  args.engine.logs_slow = true;
  BRAID_CHECK_OK(args.engine.Validate());
  BRAID_CHECK_OK(args.server.Validate());
  return args.http.off ? Status() : args.http.server.Validate();
}

Status FitConnections(ServeArgs& args) {
  const DescriptorShares shares = ShareDescriptors();
  if (shares.connections < kConnectionsLeast) {
    return Status(Code::kBadValue, StrCat("the limit of open files is ", shares.limit,
                                          ", which is not enough for the store and a few connections: raise it with "
                                          "ulimit -n, 1024 will do"));
  }
  uint64_t room = shares.connections;
  if (!args.http.off) {
    args.http.server.connections_max = std::min<uint64_t>(args.http.server.connections_max, room / 4);
    room -= args.http.server.connections_max;
  }
  // A connection that waits for its refusal has a descriptor too.
  wire::ServerOptions& server = args.server;
  server.refusals_max = std::min<uint64_t>(server.refusals_max, room / 8);
  room -= server.refusals_max;
  if (server.connections_max <= room) return {};
  log::warn("the limit of open files is {}: it leaves room for {} connections, not for {} (ulimit -n)", shares.limit,
            room, server.connections_max);
  server.connections_max = static_cast<uint32_t>(room);
  return {};
}

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
