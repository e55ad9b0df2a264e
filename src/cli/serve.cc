// braid serve: serves a store over TCP until SIGINT or SIGTERM.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/config.h"
#include "cli/serve_args.h"
#include "cli/serving.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

// The sources of the options.
struct Sources {
  GivenOptions flags;    // the command line
  GivenOptions outside;  // and the environment
};

// Reads the environment and the file, and checks everything.
Status ReadOptions(CLI::App& app, ServeArgs& args, Sources& sources) {
  sources.flags = OptionsGiven(app);
  BRAID_CHECK_OK(ApplyEnvironment(app));
  sources.outside = OptionsGiven(app);
  BRAID_CHECK_OK(ApplyConfig(app));
  return CheckServeArgs(args);
}

// Threads inherit the mask: called before the first one starts, so that only AwaitEnd() sees the signals.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed pipe or socket must not end the server
  return signals;
}

void OpenLogAnew(const std::string& file) {
  if (file.empty()) return log::info("SIGUSR1: the log goes to standard error, there is no --log-file to reopen");
  if (const Status opened = log::OpenFile(file); !opened.ok()) {
    return log::error("SIGUSR1: the log file could not be reopened and stays in use: {}", opened.message());
  }
  log::info("SIGUSR1: the log file was reopened");
}

// Waits for SIGINT or SIGTERM.
void AwaitEnd(const sigset_t& signals, const ServeArgs& args, Reload& reload) {
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    switch (signal) {
      case SIGHUP:
        NotifyServiceManager(StrCat("RELOADING=1\nMONOTONIC_USEC=", MonotonicMicros()));
        reload.Run();
        NotifyServiceManager("READY=1");
        break;
      case SIGUSR1: OpenLogAnew(args.log_file); break;
      default:
        NotifyServiceManager("STOPPING=1");
        return log::info("{}: finishing the requests that run", signal == SIGINT ? "SIGINT" : "SIGTERM");
    }
  }
}

Status RunServe(CLI::App& app, ServeArgs& args) {
  const sigset_t signals = BlockSignals();
  Sources sources;
  BRAID_CHECK_OK(ReadOptions(app, args, sources));
  log::Init(log::LevelOf(args.log_level));
  if (args.log_format == "json") log::SetFormat(log::Format::kJson);
  if (!args.log_file.empty()) BRAID_CHECK_OK(log::OpenFile(args.log_file));
  if (const Status raised = RaiseDescriptorLimit(); !raised.ok()) log::warn("{}", raised.message());
  BRAID_CHECK_OK(FitConnections(args));

  BRAID_TRY(const std::unique_ptr<Serving> serving, Serving::Open(args));
  if (!args.http.off) {
    std::printf("braid: HTTP on http://%s, documented at /docs\n", serving->http_address().c_str());
  }
  std::printf("braid: listening on mongodb://%s\n", serving->address().c_str());
  std::fflush(stdout);

  NotifyServiceManager(StrCat("READY=1\nSTATUS=listening on mongodb://", serving->address()));

  Reload reload(sources.outside, OptionsGiven(app), serving->server());
  AwaitEnd(signals, args, reload);
  serving->Stop();
  return {};
}

}  // namespace

Action SetUpServe(CLI::App& app) {
  const auto args = std::make_shared<ServeArgs>();
  AddServeOptions(app, *args);
  const auto sources = std::make_shared<Sources>();
  CheckUsage(app, [&app, args, sources]() -> std::string {
    if (!args->check_config) return {};
    return std::string(ReadOptions(app, *args, *sources).message());
  });
  return [&app, args, sources]() -> Status {
    if (!args->check_config) return RunServe(app, *args);
    std::fputs(EffectiveConfig(app, sources->flags, sources->outside).c_str(), stdout);
    return {};
  };
}

}  // namespace braid::cli
