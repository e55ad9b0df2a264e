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
using braid::settlement::migration::NameOf;
using braid::settlement::migration::Phase;
using braid::settlement::migration::ReadsChains;
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

std::string NextStep(const State& state, bool has_old_table) {
  switch (state.phase) {
    case Phase::kNone:
    case Phase::kRolledBack: return "`preflight` to see whether a migration can begin, or `run` to begin";
    case Phase::kPreflight:
    case Phase::kDualWrite:
    case Phase::kBackfill:
    case Phase::kVerify: return "`run` goes on from here; `rollback` gives up";
    case Phase::kVerified: return "`switch` makes readers read the new chains; `rollback` gives up";
    case Phase::kSwitching: return "`switch` ends the switch that was begun";
    case Phase::kSwitched: return "`drop --yes` removes the old table; `rollback` goes back to it, nothing is lost";
    case Phase::kDropping: return "`drop --yes` ends the drop that was begun";
    case Phase::kDropped:
      return has_old_table ? "`drop --yes` removes the old table" : "nothing: the migration is over";
  }
  return "";
}

client::Bson& AppendTo(client::Bson& json, const State& state, bool has_old_table) {
  client::Bson history;
  for (size_t i = 0; i < state.history.size(); ++i) {
    client::Bson change;
    change.Text("phase", state.history[i].phase).Integer("at_ms", state.history[i].at);
    if (!state.history[i].why.empty()) change.Text("why", state.history[i].why);
    history.Document(StrCat(i).c_str(), change);
  }
  return json.Text("phase", NameOf(state.phase))
      .Text("reads", ReadsChains(state.phase) ? "chains" : "old_table")
      .Integer("outputs", state.outputs)
      .Integer("output_seq", state.seq)
      .Integer("mirrored_outputs", state.mirrored_outputs)
      .Integer("mirrored_seq", state.mirrored_seq)
      .Integer("verified_seq", state.verified_seq)
      .Bool("old_table_exists", has_old_table)
      .Text("why", state.why)
      .Text("next", NextStep(state, has_old_table))
      .Array("history", history);
}

void AppendTo(client::Bson& json, const CompareReport& report) {
  client::Bson differences;
  for (size_t i = 0; i < report.differences.size(); ++i) {
    client::Bson one;
    one.Integer("symbol_id", report.differences[i].symbol_id)
        .Integer("output_seq", report.differences[i].output_seq)
        .Text("what", report.differences[i].what);
    differences.Document(StrCat(i).c_str(), one);
  }
  client::Bson verify;
  verify.Bool("ok", report.ok())
      .Integer("old_outputs", report.old_outputs)
      .Integer("new_outputs", report.new_outputs)
      .Integer("differences_total", report.differences_total)
      .Array("differences", differences);
  json.Document("verify", verify);
}

void PrintText(const State& state, bool has_old_table) {
  const std::string since = state.history.empty() ? "" : StrCat(" since ", Time(state.history.back().at));
  std::printf("phase       %s%s\n", std::string(NameOf(state.phase)).c_str(), since.c_str());
  std::printf("outputs     %lld, the newest is %lld\n", static_cast<long long>(state.outputs),
              static_cast<long long>(state.seq));
  std::printf("new chains  %lld outputs, up to %lld; compared up to %lld\n",
              static_cast<long long>(state.mirrored_outputs), static_cast<long long>(state.mirrored_seq),
              static_cast<long long>(state.verified_seq));
  std::printf("readers     read the %s\n", ReadsChains(state.phase) ? "new chains" : "old table");
  if (!state.why.empty()) std::printf("because     %s\n", state.why.c_str());
  std::printf("next        %s\n", NextStep(state, has_old_table).c_str());
}

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
  BRAID_TRY(const State state, migrator->Load());
  BRAID_TRY(const bool has_old_table, migrator->HasOldTable());
  if (args.common.json) {
    client::Bson json;
    AppendTo(json, state, has_old_table).Bool("ok", status.ok()).Double("seconds", seconds);
    if (report.old_outputs > 0 || !report.ok()) AppendTo(json, report);
    client::PrintJson(json);
  } else {
    PrintText(state, has_old_table);
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
