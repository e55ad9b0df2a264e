// The subcommands of `braid settlement`: one file each.
#pragma once

#include <filesystem>
#include <string>

#include "cli/subcommands.h"
#include "client/handles.h"
#include "services/settlement/service.h"

namespace braid::cli::settlement {

Action SetUpIngest(CLI::App& app);
Action SetUpVerify(CLI::App& app);
Action SetUpRecover(CLI::App& app);
Action SetUpFollow(CLI::App& app);
Action SetUpStats(CLI::App& app);
Action SetUpRecords(CLI::App& app);
Action SetUpBalances(CLI::App& app);
Action SetUpTrades(CLI::App& app);
Action SetUpOrders(CLI::App& app);
Action SetUpRepair(CLI::App& app);
Action SetUpKeygen(CLI::App& app);
Action SetUpCheckpoint(CLI::App& app);
Action SetUpProve(CLI::App& app);
Action SetUpCheckProof(CLI::App& app);
Action SetUpGenerate(CLI::App& app);
Action SetUpMigrate(CLI::App& app);

/// What most of them need.
struct Common {
  std::string store = "./data";
  braid::settlement::Options options;
  bool json = false;
};

/// Adds --store, --db, --log and --json.
void AddCommonOptions(CLI::App& app, Common& common);
/// The log that the options name, to read it or to look after it; one that is not there is an error and is not created.
Result<std::unique_ptr<Chains>> OpenLog(Clients& clients, const Common& common);
/// Adds --json alone, for those that need no store.
void AddJsonOption(CLI::App& app, bool& json);

/// A whole file; kBadValue if it cannot be read or has more than `bytes_max`.
Result<std::string> ReadFile(const std::filesystem::path& path, size_t bytes_max);
/// Writes a file anew, or to standard output for "-".
Status WriteFile(const std::string& path, std::string_view text);

/// How many findings of one kind are shown to a person.
inline constexpr size_t kShownMax = 20;
/// The text of a checkpoint, or of a proof, in a file may have this many bytes.
inline constexpr size_t kTextBytesMax = 128u << 20;

/// Milliseconds since 1970 as "2024-05-01T12:00:00Z", in the years 1970 to 9999: the nearest of them.
std::string Time(int64_t millis);

}  // namespace braid::cli::settlement
