// The subcommands of `braid settlement`: one file each, and what they share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "braid/chains.h"
#include "cli/subcommands.h"
#include "client/handles.h"
#include "services/settlement/service.h"

namespace CLI {
class Option;
}

namespace braid::settlement {
class Follower;
struct FollowerFigures;
struct ViewProgress;
}  // namespace braid::settlement

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

/// Verifies the chains with a line of progress.
Result<VerifyReport> VerifyWithProgress(Chains& chains, VerifyOptions options);
/// damage: [{symbol_id, output_seq, what}] (F4).
void AppendTo(client::Bson& json, const std::vector<ChainDamage>& damage);
/// ok, symbols, records, payload_bytes, damaged, damage (F4).
void AppendTo(client::Bson& json, const VerifyReport& report);
/// To standard output.
void PrintText(const VerifyReport& report);
/// OK if nothing is damaged.
Status ToStatus(const VerifyReport& report);

/// How many transactions side by side write the views.
CLI::Option* AddWorkersOption(CLI::App& app, const std::string& name, uint32_t& workers);

/// A follower that names damage and failures on standard error.
Result<std::unique_ptr<braid::settlement::Follower>> StartFollower(Clients& clients, const Common& common,
                                                                   uint32_t workers);

/// "views at output 17, 0 records behind", and why if the store fails.
std::string Describe(const braid::settlement::FollowerFigures& figures);
/// "balances (balances, generation 2): up to output 17, 0 records behind"
std::string Describe(const braid::settlement::ViewProgress& view);
/// views: [{view, collection, generation, applied_seq, records, behind}] (F4).
void AppendTo(client::Bson& json, const std::vector<braid::settlement::ViewProgress>& views);

}  // namespace braid::cli::settlement
