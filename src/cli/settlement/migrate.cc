// braid settlement migrate: from one chain over all symbols to one chain a symbol, while writers write (C6).
#include "cli/settlement/migrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "base/strings.h"
#include "cli/interrupt.h"
#include "cli/store_option.h"
#include "cli/transfer/progress.h"

namespace braid::cli::settlement {

using braid::settlement::migration::CompareReport;
using braid::settlement::migration::MigrationOptions;
using braid::settlement::migration::Migrator;
using braid::settlement::migration::State;

void AddMigrateOptions(CLI::App& app, MigrateArgs& args) {
  AddCommonOptions(app, args.common);
  app.add_option("--old-table", args.options.old_table, "Collection of the old layout, one chain over all symbols.")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--batch", args.options.batch_records_max,
                 "Outputs that go into the new chains at a time; a writer may have to wait for one batch.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
}

MigrationOptions ToOptions(const MigrateArgs& args) {
  MigrationOptions options = args.options;
  options.database = args.common.options.database;
  options.log = args.common.options.log;
  options.stop = &StopOnInterrupt();
  return options;
}

namespace {

// How far a long step is and how fast it goes, for the line of progress. Any thread.
class Pace {
 public:
  void Set(std::string_view step, int64_t done, int64_t of) {
    const std::lock_guard lock(mu_);
    if (step != step_) {
      step_ = step;
      first_ = done;
      start_ = std::chrono::steady_clock::now();
    }
    done_ = done;
    of_ = of;
  }
  std::string ToString() const {
    const std::lock_guard lock(mu_);
    if (step_.empty()) return "starting";
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(done_ - first_) / seconds : 0;
    return fmt::format("{}: {} of {} outputs ({} %), {:.0f}/s", step_, done_, of_, of_ > 0 ? 100 * done_ / of_ : 100,
                       rate);
  }

 private:
  mutable std::mutex mu_;
  std::string step_;  // guarded by mu_, as are the others
  int64_t first_ = 0;
  int64_t done_ = 0;
  int64_t of_ = 0;
  std::chrono::steady_clock::time_point start_;
};

using Step = Status (*)(Migrator& migrator, CompareReport& report);

Status RunStep(const MigrateArgs& args, Step step) {
  MigrationOptions options = ToOptions(args);
  Pace pace;
  options.on_progress = [&pace](std::string_view name, int64_t done, int64_t of) { pace.Set(name, done, of); };
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.common.store));
  BRAID_TRY(const std::unique_ptr<Migrator> migrator, Migrator::Open(*clients, options));
  const auto start = std::chrono::steady_clock::now();
  CompareReport report;
  Status status;
  {
    const transfer::Progress line([&] { return pace.ToString(); }, false);
    status = step(*migrator, report);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Result<State> state = migrator->Load();
  const Result<bool> has_old_table = migrator->HasOldTable();
  if (!state.ok() || !has_old_table.ok()) {
    if (!status.ok()) return status;  // why the step failed says more
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

Action SetUpStep(CLI::App& app, Step step) {
  const auto args = std::make_shared<MigrateArgs>();
  AddMigrateOptions(app, *args);
  return [args, step] { return RunStep(*args, step); };
}

Action SetUpDrop(CLI::App& app) {
  const auto args = std::make_shared<MigrateArgs>();
  const auto yes = std::make_shared<bool>(false);
  AddMigrateOptions(app, *args);
  app.add_flag("--yes", *yes, "Really: there is no way back.");
  return [args, yes]() -> Status {
    if (!*yes) return Status(Code::kBadValue, "this removes the old table for good; say --yes if you mean it");
    return RunStep(*args, [](Migrator& migrator, CompareReport&) { return migrator.Drop(); });
  };
}

template <Status (*step)(Migrator&, CompareReport&)>
Action SetUp(CLI::App& app) {
  return SetUpStep(app, step);
}

Status DoNothing(Migrator& /*migrator*/, CompareReport& /*report*/) { return {}; }
Status DoPreflight(Migrator& migrator, CompareReport& /*report*/) { return migrator.Preflight(); }
Status DoStart(Migrator& migrator, CompareReport& /*report*/) { return migrator.Start(); }
Status DoRun(Migrator& migrator, CompareReport& report) { return migrator.Run(&report); }
Status DoSwitch(Migrator& migrator, CompareReport& /*report*/) { return migrator.Switch(); }
Status DoRollback(Migrator& migrator, CompareReport& /*report*/) { return migrator.Rollback(); }

constexpr Subcommand kSteps[] = {
    {"status", "How far the migration is, and what to do next.", SetUp<DoNothing>},
    {"preflight", "Check whether a migration can begin; writes no output.", SetUp<DoPreflight>},
    {"start", "Preflight, then let writers write both layouts.", SetUp<DoStart>},
    {"run", "All up to the switch: preflight, dual write, backfill, verify. Goes on from wherever it stands.",
     SetUp<DoRun>},
    {"switch", "Make readers read the new chains; still reversible.", SetUp<DoSwitch>},
    {"rollback", "Back to the old table alone, from anywhere before the drop; nothing is lost.", SetUp<DoRollback>},
    {"drop", "Remove the old table after the switch.", SetUpDrop},
    {"generate", "Make an old table with made-up outputs.", SetUpMigrateGenerate},
    {"write", "Write outputs as a service does during a migration: from a file, or made up.", SetUpMigrateWrite},
    {"follow", "Read outputs as a service does during a migration, and see that none is missing.", SetUpMigrateFollow},
};

}  // namespace

Action SetUpMigrate(CLI::App& app) {
  app.footer(
      "The usual way, with writers and readers running all the time:\n"
      "  run          until it says that both layouts are equal\n"
      "  switch       readers read the new chains\n"
      "  drop --yes   the old table goes\n"
      "Any of them may be killed and run again; `status` says what comes next.");
  return SetUpNested(app, kSteps);
}

}  // namespace braid::cli::settlement
