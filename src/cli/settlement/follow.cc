// braid settlement follow: one process that keeps the views up to the log while others write it (C8).
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/views/follower.h"

namespace braid::cli::settlement {

using braid::settlement::Follower;
using braid::settlement::FollowerFigures;
using braid::settlement::FollowerOptions;
using braid::settlement::ViewProgress;
using braid::settlement::ViewsOptions;

CLI::Option* AddWorkersOption(CLI::App& app, const std::string& name, uint32_t& workers) {
  return app.add_option(name, workers, "Concurrent transactions that write the views.")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
}

Result<std::unique_ptr<Follower>> StartFollower(Clients& clients, const Common& common, uint32_t workers) {
  ViewsOptions views;
  views.database = common.options.database;
  views.log = common.options.log;
  views.workers = workers;
  FollowerOptions options;
  options.on_damage = [](const ChainDamage& damage) {
    transfer::PrintLine(StrCat("views: symbol ", damage.chain, " is applied up to the output before ", damage.sequence,
                               ": ", damage.what));
  };
  options.on_failure = [](const Status& why) { transfer::PrintLine(StrCat("views: ", why.ToString())); };
  return Follower::Start(clients, views, options);
}

std::string Describe(const FollowerFigures& figures) {
  const std::string why = figures.last_error.empty() ? "" : StrCat("; tries again after: ", figures.last_error);
  return StrCat("views at output ", figures.applied_seq, ", ", figures.behind, " records behind", why);
}

std::string Describe(const ViewProgress& view) {
  return StrCat(NameOf(view.view), " (", view.collection, ", generation ", view.generation, "): up to output ",
                view.applied_seq, ", ", view.behind, " records behind",
                view.stuck.empty() ? "" : StrCat("; stuck: ", view.stuck));
}

void AppendTo(client::Bson& json, const std::vector<ViewProgress>& views) {
  client::Bson rows;
  for (size_t i = 0; i < views.size(); ++i) {
    const ViewProgress& view = views[i];
    client::Bson row;
    row.Text("view", NameOf(view.view))
        .Text("collection", view.collection)
        .Integer("generation", view.generation)
        .Integer("applied_seq", view.applied_seq)
        .Integer("records", view.records)
        .Integer("behind", view.behind);
    if (!view.stuck.empty()) row.Text("stuck", view.stuck);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array("views", rows);
}

namespace {

struct FollowArgs {
  Common common;
  uint32_t workers = 4;
  bool once = false;
  bool quiet = false;
};

void PrintFollowedJson(const Follower& follower, const std::vector<ViewProgress>& views, double seconds) {
  const FollowerFigures figures = follower.figures();
  client::Bson json;
  json.Bool("ok", follower.health().ok())
      .Integer("applied_records", figures.records)
      .Integer("failures", figures.failures)
      .Double("seconds", seconds);
  AppendTo(json, follower.damage());
  AppendTo(json, views);
  client::PrintJson(json);
}

void PrintFollowed(const Follower& follower, const std::vector<ViewProgress>& views, double seconds) {
  std::printf("%lld records applied in %.1f s\n", static_cast<long long>(follower.figures().records), seconds);
  for (const ViewProgress& view : views) std::printf("%s\n", Describe(view).c_str());
}

Status RunFollow(const FollowArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(args.common.store, {.stop = &stop, .json = args.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kExisting));
  const auto start = std::chrono::steady_clock::now();
  BRAID_TRY(const std::unique_ptr<Follower> follower, StartFollower(*clients, args.common, args.workers));
  Status status;
  {
    Pace pace;
    const transfer::Progress line(
        [&] {
          const FollowerFigures figures = follower->figures();
          const auto all = static_cast<double>(figures.records + figures.behind);
          const auto share = all > 0 ? std::optional(static_cast<double>(figures.records) / all) : std::nullopt;
          return StrCat(Describe(figures), "; ", pace.ToString(figures.records, share));
        },
        args.quiet);
    if (args.once) {
      status = follower->CatchUp({.stop = &stop});
    } else {
      while (!stop.load() && !follower->ended()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (follower->ended()) status = follower->CatchUp();
      follower->Stop();
      if (status.ok()) status = follower->health();
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  BRAID_TRY(const std::vector<ViewProgress> views, follower->Progress());
  args.common.json ? PrintFollowedJson(*follower, views, seconds) : PrintFollowed(*follower, views, seconds);
  return status;
}

}  // namespace

Action SetUpFollow(CLI::App& app) {
  const auto args = std::make_shared<FollowArgs>();
  AddCommonOptions(app, args->common);
  AddWorkersOption(app, "-j,--workers", args->workers);
  app.add_flag("--once", args->once, "Ends when the views include everything that the log has now.");
  app.add_flag("--quiet", args->quiet, "No progress.");
  return [args] { return RunFollow(*args); };
}

}  // namespace braid::cli::settlement
