// braid settlement ingest: outputs from files, standard input or engines over TCP into the chains.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/settlement/ingest.h"
#include "cli/transfer/progress.h"
#include "services/settlement/listener.h"
#include "services/settlement/views/follower.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::Answer;
using braid::settlement::Follower;
using braid::settlement::Listener;
using braid::settlement::ListenerOptions;
using braid::settlement::Options;
using braid::settlement::Outcome;
using braid::settlement::Settlement;
using braid::settlement::ViewProgress;
using braid::settlement::migration::MigrationWatch;

struct IngestArgs {
  Common common;
  std::vector<std::string> files = {"-"};
  std::optional<uint16_t> port;
  ListenerOptions listener;
  int64_t delay_ms = 2;
  int64_t lease_ms = 10'000;
  bool follow = false;
  uint32_t view_writers = 4;
  bool quiet = false;
};

void AddSourceOptions(CLI::App& app, IngestArgs& args) {
  CLI::Option* files = app.add_option("files", args.files,
                                      "Files with one output per line, packed with gzip or zstd or not; - is "
                                      "standard input.")
                           ->type_name("FILE")
                           ->capture_default_str();
  CLI::Option* listen = app.add_option("--listen", args.port,
                                       "Takes outputs from engines over TCP on this port, until interrupted; 0 is a "
                                       "free one, which is printed.")
                            ->type_name("PORT")
                            ->excludes(files);
  app.add_option("--bind", args.listener.address,
                 "Loopback address to listen on: there is no password, so no other one is taken.")
      ->type_name("ADDRESS")
      ->capture_default_str()
      ->needs(listen);
  app.add_option("--connections", args.listener.connections_max, "Connections at a time.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str()
      ->needs(listen);
  app.add_option("--skip-refused", args.common.options.skip_refused,
                 "Skips lines that are not outputs, for this reason, which is kept with each of them. Without it their "
                 "symbols accept nothing later until the lines are corrected.")
      ->type_name("REASON");
  app.add_flag("--quiet", args.quiet, "No progress.");
}

void AddViewOptions(CLI::App& app, IngestArgs& args) {
  CLI::Option* follow = app.add_flag("--follow", args.follow,
                                     "Keeps the views (balances, trades, orders) up to the log meanwhile, and ends "
                                     "when they have all of it.");
  AddWorkersOption(app, "--view-writers", args.view_writers)->needs(follow);
}

void AddWriterOptions(CLI::App& app, IngestArgs& args) {
  Options& options = args.common.options;
  app.add_option("-j,--writers", options.writers.writers, "Threads that the symbols are spread over.")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--batch", options.writers.batch_records_max, "The most outputs in one durable commit.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--delay", args.delay_ms, "Milliseconds that an output waits for a batch to fill.")
      ->check(CLI::Range(0, 1000))
      ->type_name("MS")
      ->capture_default_str();
  CLI::Option* owner = app.add_option("--owner", options.owner,
                                      "Name of this service, if several share the symbols: it takes the lease of each "
                                      "symbol it meets, unless another has it.")
                           ->type_name("NAME");
  app.add_option("--leases", options.leases_max, "The most symbols to take; 0: no limit.")
      ->type_name("N")
      ->capture_default_str()
      ->needs(owner);
  app.add_option("--lease-time", args.lease_ms,
                 "Milliseconds after which another service may take the symbols if this one is killed.")
      ->check(CLI::Range(100, 3'600'000))
      ->type_name("MS")
      ->capture_default_str()
      ->needs(owner);
}

// What a progress line says of the views, if they are followed.
std::string Behind(const Follower* follower) {
  return follower == nullptr ? "" : StrCat("; ", Describe(follower->figures()));
}

Status ReadFiles(Settlement& settlement, const Follower* follower, const IngestArgs& args, MigrationWatch& watch,
                 const std::atomic<bool>& stop, Summary& summary) {
  FilesRead read(args.files);
  Pace pace;
  const transfer::Progress line(
      [&] {
        const std::string rate = pace.ToString(static_cast<int64_t>(summary.totals().sum()), read.share());
        return StrCat(summary.ToString(), "; ", rate, Behind(follower));
      },
      args.quiet);
  return IngestFiles(settlement, args.files, watch, stop, read, summary);
}

Status Listen(Settlement& settlement, const Follower* follower, const IngestArgs& args, MigrationWatch& watch,
              const std::atomic<bool>& stop, Summary& summary) {
  ListenerOptions options = args.listener;
  options.port = *args.port;
  options.on_problem = [&](const std::string& source, const Answer& answer) {
    if (answer.outcome != Outcome::kElsewhere) summary.AddProblem(source, answer);
  };
  BRAID_TRY(std::unique_ptr<Listener> listener, Listener::Open(settlement, options));
  // The program that started this one reads the port from here.
  std::FILE* const out = args.common.json ? stderr : stdout;
  std::fprintf(out, "listening on %s port %u\n", options.address.c_str(), listener->port());
  std::fflush(out);
  const transfer::Progress line(
      [&] { return StrCat(listener->connections(), " connections: ", Describe(listener->totals()), Behind(follower)); },
      args.quiet);
  Status failure;
  while (!stop.load() && failure.ok()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    failure = settlement.writers().failure();
    if (failure.ok()) failure = watch.Check();
  }
  listener->Stop();
  summary.Add(listener->totals());
  return failure.ok() ? settlement.writers().failure() : failure;
}

// A signal is the normal end of listening, and then the views should be complete, too. An interrupt while reading files
// should end the program; the next run continues.
Status CatchUp(Follower& follower, const IngestArgs& args, const std::atomic<bool>& stop,
               std::vector<ViewProgress>& views) {
  const transfer::Progress line([&] { return Describe(follower.figures()); }, args.quiet);
  const Status caught_up = follower.CatchUp({.stop = args.port ? nullptr : &stop});
  const auto progress = follower.Progress();
  if (progress.ok()) views = *progress;
  return caught_up.ok() ? progress.status() : caught_up;
}

Status RunIngest(IngestArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(args.common.store,
                          {.stop = &stop, .ends_soon = !args.port.has_value(), .json = args.common.json});
  Options& options = args.common.options;
  options.writers.batch_delay = std::chrono::milliseconds(args.delay_ms);
  options.lease_ttl = std::chrono::milliseconds(args.lease_ms);
  options.writers.interval = std::min(options.writers.interval, options.lease_ttl / 4);
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.common.store));
  MigrationWatch watch(*clients, options);
  BRAID_CHECK_OK(watch.Check());
  BRAID_TRY(const std::unique_ptr<Settlement> settlement, Settlement::Open(*clients, options));
  std::unique_ptr<Follower> follower;
  if (args.follow) {
    BRAID_TRY(follower, StartFollower(*clients, args.common, args.view_writers));
  }
  const auto start = std::chrono::steady_clock::now();
  Summary summary;
  Status status = args.port ? Listen(*settlement, follower.get(), args, watch, stop, summary)
                            : ReadFiles(*settlement, follower.get(), args, watch, stop, summary);
  const bool interrupted = stop.load() && !args.port;
  const std::vector<ChainWriterFigures> writers = settlement->writers().Figures();
  if (const Status stopped = settlement->Stop(); status.ok()) status = stopped;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<ViewProgress> views;
  const Status caught_up = follower == nullptr ? Status() : CatchUp(*follower, args, stop, views);
  summary.PrintProblems();
  if (args.common.json) summary.PrintJson(writers, args.follow ? &views : nullptr, seconds);
  transfer::PrintLine(StrCat(summary.ToString(), " in ", fmt::format("{:.1f}", seconds), " s"));
  for (const ViewProgress& view : views) transfer::PrintLine(Describe(view));
  BRAID_CHECK_OK(status);
  if (interrupted) {
    return Status(Code::kInterrupted, "interrupted; run it again with the same outputs: none is stored twice");
  }
  // An engine that is told so goes to the other service; a file does not.
  BRAID_CHECK_OK(summary.ToStatus(!args.port));
  return caught_up;
}

}  // namespace

Action SetUpIngest(CLI::App& app) {
  const auto args = std::make_shared<IngestArgs>();
  AddCommonOptions(app, args->common);
  AddSourceOptions(app, *args);
  AddWriterOptions(app, *args);
  AddViewOptions(app, *args);
  return [args] { return RunIngest(*args); };
}

}  // namespace braid::cli::settlement
