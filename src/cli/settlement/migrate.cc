// braid settlement migrate: from one chain over all symbols to one chain per symbol, while writers write (C6).
#include "cli/settlement/migrate.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/transfer/progress.h"

namespace braid::cli::settlement {

using braid::settlement::migration::CompareReport;
using braid::settlement::migration::HasOldTable;
using braid::settlement::migration::MigrationOptions;
using braid::settlement::migration::Migrator;
using braid::settlement::migration::OldMapping;
using braid::settlement::migration::ParseMapping;
using braid::settlement::migration::ReadState;
using braid::settlement::migration::State;

void AddMigrateOptions(CLI::App& app, MigrateArgs& args) {
  AddCommonOptions(app, args.common);
  app.add_option("--old-table", args.options.old_table, "Collection of the old layout, one chain over all symbols.")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--mapping", args.mapping,
                 "Names of the old table and its fields, as JSON, if they are not those that `generate` makes.")
      ->type_name("FILE");
  app.add_option("--batch", args.options.batch_records_max,
                 "Outputs that go into the new chains at a time; a writer may have to wait for one batch.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
}

Result<MigrationOptions> ToOptions(const MigrateArgs& args) {
  MigrationOptions options = args.options;
  if (!args.mapping.empty()) {
    constexpr size_t kMappingBytesMax = 64 << 10;
    BRAID_TRY(const std::string text, ReadFile(args.mapping, kMappingBytesMax));
    BRAID_TRY(OldMapping mapping, ParseMapping(text));
    options.layout = std::move(mapping.layout);
    const bool named = options.old_table != MigrationOptions().old_table;
    if (!named && !mapping.collection.empty()) options.old_table = mapping.collection;
  }
  options.database = args.common.options.database;
  options.log = args.common.options.log;
  options.stop = &StopOnInterrupt();
  return options;
}

namespace {

// The current long step and its progress, for the progress line. Any thread.
class MigrationProgress {
 public:
  void Set(std::string_view step, int64_t done, int64_t of) {
    const MutexLock lock(mu_);
    if (step != step_) {
      step_ = step;
      first_ = done;
      pace_ = Pace();
    }
    done_ = done;
    of_ = of;
  }
  std::string ToString() {
    const MutexLock lock(mu_);
    if (step_.empty()) return "starting";
    const double share = of_ > 0 ? static_cast<double>(done_) / static_cast<double>(of_) : 1;
    return StrCat(step_, ": ", done_, " of ", of_, " outputs, ", pace_.ToString(done_ - first_, share));
  }

 private:
  Mutex mu_;
  std::string step_ BRAID_GUARDED_BY(mu_);
  int64_t first_ BRAID_GUARDED_BY(mu_) = 0;  // done before this process began with the step
  int64_t done_ BRAID_GUARDED_BY(mu_) = 0;
  int64_t of_ BRAID_GUARDED_BY(mu_) = 0;
  Pace pace_ BRAID_GUARDED_BY(mu_);
};

using Step = Status (*)(Migrator& migrator, CompareReport& report);

Status RunStep(const MigrateArgs& args, Step step) {
  BRAID_TRY(MigrationOptions options, ToOptions(args));
  MigrationProgress progress;
  options.on_progress = [&progress](std::string_view name, int64_t done, int64_t of) { progress.Set(name, done, of); };
  const Patience patience(args.common.store, {.stop = &StopOnInterrupt(), .json = args.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kExisting));
  BRAID_TRY(const std::unique_ptr<Migrator> migrator, Migrator::Open(*clients, options));
  const auto start = std::chrono::steady_clock::now();
  CompareReport report;
  Status status;
  {
    const transfer::Progress line([&] { return progress.ToString(); }, false);
    status = step(*migrator, report);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Result<State> state = migrator->Load();
  const Result<bool> has_old_table = migrator->HasOldTable();
  if (!state.ok() || !has_old_table.ok()) {
    if (!status.ok()) return status;  // the error of the step is more useful
    return state.ok() ? has_old_table.error() : state.error();
  }
  if (args.common.json) {
    client::Bson json;
    AppendTo(json, *state, *has_old_table).Bool("ok", status.ok()).Double("seconds", seconds);
    if (report.old_outputs > 0 || !report.ok()) AppendTo(json, report);
    client::PrintJson(json);
  } else {
    PrintText(*state, *has_old_table);
  }
  return status;
}

// Looks without leaving anything behind: where there is no migration, none is made.
Status RunStatus(const MigrateArgs& args) {
  BRAID_TRY(const MigrationOptions options, ToOptions(args));
  const Patience patience(args.common.store, {.stop = &StopOnInterrupt(), .json = args.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kRead));
  const auto start = std::chrono::steady_clock::now();
  BRAID_TRY(const State state, ReadState(*clients, options));
  BRAID_TRY(const bool has_old_table, HasOldTable(*clients, options));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!args.common.json) {
    PrintText(state, has_old_table);
    return {};
  }
  client::Bson json;
  client::PrintJson(AppendTo(json, state, has_old_table).Bool("ok", true).Double("seconds", seconds));
  return {};
}

Action SetUpStatus(CLI::App& app) {
  const auto args = std::make_shared<MigrateArgs>();
  AddMigrateOptions(app, *args);
  return [args] { return RunStatus(*args); };
}

Action SetUpStep(CLI::App& app, Step step) {
  const auto args = std::make_shared<MigrateArgs>();
  AddMigrateOptions(app, *args);
  return [args, step] { return RunStep(*args, step); };
}

Action SetUpDrop(CLI::App& app) {
  const auto args = std::make_shared<MigrateArgs>();
  const auto yes = std::make_shared<bool>(false);
  AddMigrateOptions(app, *args);
  app.add_flag("--yes", *yes, "Confirms: this cannot be undone.");
  CheckUsage(app,
             [yes] { return std::string(*yes ? "" : "this removes the old table permanently; confirm with --yes"); });
  return [args] { return RunStep(*args, [](Migrator& migrator, CompareReport&) { return migrator.Drop(); }); };
}

template <Status (*step)(Migrator&, CompareReport&)>
Action SetUp(CLI::App& app) {
  return SetUpStep(app, step);
}

Status DoPreflight(Migrator& migrator, CompareReport& /*report*/) { return migrator.Preflight(); }
Status DoStart(Migrator& migrator, CompareReport& /*report*/) { return migrator.Start(); }
Status DoRun(Migrator& migrator, CompareReport& report) { return migrator.Run(&report); }
Status DoSwitch(Migrator& migrator, CompareReport& /*report*/) { return migrator.Switch(); }
Status DoRollback(Migrator& migrator, CompareReport& /*report*/) { return migrator.Rollback(); }

constexpr Subcommand kSteps[] = {
    {"status", "How far the migration is, and what to do next.", SetUpStatus},
    {"preflight", "Check whether a migration can begin; writes no output.", SetUp<DoPreflight>},
    {"start", "Preflight, then let writers write both layouts.", SetUp<DoStart>},
    {"run",
     "Do all steps up to the switch: preflight, dual write, backfill, verify. Continues an interrupted migration.",
     SetUp<DoRun>},
    {"switch", "Make readers read the new chains; still reversible.", SetUp<DoSwitch>},
    {"rollback", "Return to the old table alone, at any point before the drop; nothing is lost.", SetUp<DoRollback>},
    {"drop", "Remove the old table after the switch.", SetUpDrop},
    {"generate", "Make an old table with generated outputs.", SetUpMigrateGenerate},
    {"write", "Write outputs as a service does during a migration: from a file, or generated.", SetUpMigrateWrite},
    {"follow", "Read outputs as a service does during a migration, and see that none is missing.", SetUpMigrateFollow},
};

}  // namespace

Action SetUpMigrate(CLI::App& app) {
  app.footer(
      "The usual way, with writers and readers running all the time:\n  run          until it says that both layouts "
      "are equal\n  switch       readers read the new chains\n  drop --yes   the old table is removed\nAny of them may "
      "be killed and run again; `status` says what comes next.");
  return SetUpNested(app, kSteps);
}

}  // namespace braid::cli::settlement
