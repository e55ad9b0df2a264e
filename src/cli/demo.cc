// braid demo: a store with data of all services and a gentle load, served as by braid serve, and a guide to it.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/strings.h"
#include "braid/clock.h"
#include "cli/demo/guide.h"
#include "cli/demo/loads.h"
#include "cli/serving.h"
#include "cli/subcommands.h"
#include "embedded/engine_clients.h"

namespace braid::cli {
namespace {

// If the default port is in use, the next free one is taken, up to this many further.
constexpr uint16_t kDemoPorts = 20;

struct DemoArgs {
  ServeArgs serve;
  double seconds = 0;  // 0: until it is stopped
  double speed = 1;
  bool quiet = false;
};

/// A given directory, or a temporary one that is removed with the object. Move-only.
class DemoDirectory {
 public:
  /// Empty: a new one below TMPDIR or /tmp.
  static Result<DemoDirectory> Make(const std::string& given);
  DemoDirectory(DemoDirectory&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}
  DemoDirectory& operator=(DemoDirectory&&) = delete;
  ~DemoDirectory();

  const std::string& path() const { return path_; }
  bool temporary() const { return temporary_; }

 private:
  DemoDirectory(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}

  std::string path_;
  bool temporary_;  // false after a move
};

Result<DemoDirectory> DemoDirectory::Make(const std::string& given) {
  if (!given.empty()) return DemoDirectory(given, false);
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "braid-demo-XXXXXX").string();
  if (!error && mkdtemp(path.data()) != nullptr) return DemoDirectory(path, true);
  return Status(Code::kBadValue, StrCat("cannot make a temporary directory like ", path,
                                        "; set TMPDIR, or give one to keep with --store DIR"));
}

DemoDirectory::~DemoDirectory() {
  std::error_code error;
  if (temporary_ && std::filesystem::remove_all(path_, error) == static_cast<std::uintmax_t>(-1)) {
    log::warn("cannot remove {}: {}", path_, error.message());
  }
}

void AddDemoOptions(CLI::App& app, DemoArgs& args) {
  args.serve.store.clear();
  args.serve.log_level = "warning";
  app.add_option("--store", args.serve.store,
                 "Directory of the data, which is kept; a demo that exists there continues. By default a temporary one "
                 "that is removed at the end.")
      ->type_name("DIR");
  app.add_option("--port", args.serve.server.port, "TCP port; 0 takes a free one.")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT")
      ->capture_default_str();
  app.add_option("--http-port", args.serve.http.server.port,
                 "TCP port of the page and the HTTP API; 0 takes a free one.")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT")
      ->capture_default_str();
  app.add_option("--seconds", args.seconds, "Ends by itself after this time.")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  app.add_option("--speed", args.speed, "Factor by which everything runs faster than usual, 0.1 to 100.")
      ->check(CLI::Range(0.1, 100.0))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--quiet", args.quiet, "Prints the guide only, and no events.");
}

// Threads inherit the mask: called before the first one starts, so that only AwaitEndOfDemo() sees the signals.
sigset_t BlockDemoSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  return signals;
}

void AwaitEndOfDemo(const sigset_t& signals, double seconds) {
  if (seconds == 0) {
    int signal = 0;
    sigwait(&signals, &signal);
    return;
  }
  const auto nanos = static_cast<int64_t>(seconds * 1e9);
  const timespec limit{.tv_sec = nanos / 1'000'000'000, .tv_nsec = nanos % 1'000'000'000};
  sigtimedwait(&signals, nullptr, &limit);
}

// The differences from a server: small, quick to stop, and able to use another port.
void FitToDemo(const CLI::App& app, ServeArgs& serve) {
  serve.engine.cache_bytes = 128ull << 20;
  serve.engine.memory_limit_bytes = 128ull << 20;
  serve.server.connections_max = 1000;
  serve.http.server.connections_max = 1000;
  serve.server.stop_grace = std::chrono::milliseconds(500);
  if (app.count("--port") == 0) serve.ports = kDemoPorts;
  if (app.count("--http-port") == 0) serve.http_ports = kDemoPorts;
}

void PrintDemoEvent(std::string_view text) {
  // The time of day is enough here: 12:00:00Z.
  const std::string line = StrCat(UtcText(Clock::System().NowMillis()).substr(11, 8), "Z  ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::string PortRemark(const char* what, uint16_t wanted, uint16_t taken) {
  return StrCat("Port ", wanted, " is in use, so ", what, " is on port ", taken, ".");
}

Status RunDemo(const CLI::App& app, DemoArgs& args) {
  const sigset_t signals = BlockDemoSignals();
  log::Init(log::LevelOf(args.serve.log_level));
  if (const Status raised = RaiseDescriptorLimit(); !raised.ok()) log::warn("{}", raised.message());
  BRAID_TRY(const DemoDirectory directory, DemoDirectory::Make(args.serve.store));
  args.serve.store = directory.path();
  FitToDemo(app, args.serve);
  BRAID_CHECK_OK(CheckServeArgs(args.serve));
  BRAID_CHECK_OK(FitConnections(args.serve));
  const uint16_t port = args.serve.server.port;
  const uint16_t http_port = args.serve.http.server.port;
  BRAID_TRY(const std::unique_ptr<Serving> serving, Serving::Open(args.serve));
  demo::GuideInput guide{.address = serving->address(),
                         .http_address = serving->http_address(),
                         .store = directory.path(),
                         .temporary = directory.temporary()};
  if (args.serve.server.port != port) guide.remarks.push_back(PortRemark("MongoDB", port, args.serve.server.port));
  if (args.serve.http.server.port != http_port) {
    guide.remarks.push_back(PortRemark("HTTP", http_port, args.serve.http.server.port));
  }

  embedded::EngineClients clients(serving->engine(), serving->handler());
  std::atomic<bool> show = false;  // what happens, from the guide on
  BRAID_TRY(const std::unique_ptr<demo::Journal> journal, demo::Journal::Open(clients, [&](std::string_view text) {
              if (show) PrintDemoEvent(text);
            }));
  demo::Loads loads(clients, *journal, args.speed);
  BRAID_CHECK_OK(loads.Open(demo::AllLoads()));
  std::printf("%s\n", demo::Guide(guide).c_str());
  std::fflush(stdout);
  show = !args.quiet;
  loads.Start();
  AwaitEndOfDemo(signals, args.seconds);
  loads.Stop();
  clients.Clear();
  serving->Stop();
  if (loads.failures() == 0) return {};
  return Status(Code::kOperationFailed,
                StrCat(loads.failures(), " steps of the loads failed; see the log for the reasons"));
}

}  // namespace

Action SetUpDemo(CLI::App& app) {
  const auto args = std::make_shared<DemoArgs>();
  AddDemoOptions(app, *args);
  return [&app, args] { return RunDemo(app, *args); };
}

}  // namespace braid::cli
