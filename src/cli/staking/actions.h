// The subcommands of `braid staking`: one file each.
#pragma once

#include <string>

#include "cli/subcommands.h"
#include "services/staking/tables.h"

namespace braid::cli::staking {

Action SetUpIngest(CLI::App& app);
Action SetUpStats(CLI::App& app);
Action SetUpAudit(CLI::App& app);
Action SetUpDelegations(CLI::App& app);
Action SetUpUnprocessable(CLI::App& app);
Action SetUpShards(CLI::App& app);
Action SetUpBackfill(CLI::App& app);
Action SetUpGenerate(CLI::App& app);
Action SetUpPublish(CLI::App& app);

/// What most of them need.
struct Common {
  std::string store = "./data";
  braid::staking::Options options;
  bool json = false;
};

/// Adds --store, --db, --logical-shard-count and --json.
void AddCommonOptions(CLI::App& app, Common& common);

/// For CLI11's check(): empty if the text is a public key of 64 or 66 hexadecimal digits in lower case, else what is
/// wrong with it.
std::string CheckKey(const std::string& text);

/// The same for a broker's address.
std::string CheckBroker(const std::string& uri);

/// "1.25000000 BTC"
std::string Bitcoin(int64_t satoshi);

}  // namespace braid::cli::staking
