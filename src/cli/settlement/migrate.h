// Shared by the subcommands of `braid settlement migrate`.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "cli/settlement/actions.h"
#include "services/settlement/migration/migrator.h"

namespace braid::cli::settlement {

struct MigrateArgs {
  Common common;
  braid::settlement::migration::MigrationOptions options;
  std::string mapping;  ///< a file; empty for the layout of old_table.h
};

/// Adds the options of all of them.
void AddMigrateOptions(CLI::App& app, MigrateArgs& args);
/// The options as the library wants them; interrupts end long steps. kBadValue if the mapping is invalid.
Result<braid::settlement::migration::MigrationOptions> ToOptions(const MigrateArgs& args);

/// The progress of the migration; migrate_report.cc.
client::Bson& AppendTo(client::Bson& json, const braid::settlement::migration::State& state, bool has_old_table);
void AppendTo(client::Bson& json, const braid::settlement::migration::CompareReport& report);
void PrintText(const braid::settlement::migration::State& state, bool has_old_table);

/// Load to see a migration under: migrate_write.cc and migrate_follow.cc.
Action SetUpMigrateGenerate(CLI::App& app);
Action SetUpMigrateWrite(CLI::App& app);
Action SetUpMigrateFollow(CLI::App& app);

}  // namespace braid::cli::settlement
