// braid staking: statistics of delegations, and their maintenance.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common_options.h"
#include "cli/staking/actions.h"
#include "services/queue/address.h"
#include "services/staking/json.h"

namespace braid::cli {
namespace staking {

void AddCommonOptions(CLI::App& app, Common& common) {
  AddStoreOption(app, common.store);
  app.add_option("-d,--db", common.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option(
         "--logical-shard-count", common.options.shard_count,
         "Documents that each counter is spread over, 1 to 10000, for commands that write. May be raised at any time, "
         "never lowered; by default the store's number, 10 in a new one. Commands that read use the store's number.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N");
  app.add_flag("--json", common.json, "One JSON object on standard output; everything else goes to standard error.");
}

std::string CheckKey(const std::string& text) { return std::string(braid::staking::CheckPublicKey(text).message()); }

std::string CheckBroker(const std::string& uri) { return std::string(queue::ParseAddress(uri).status().message()); }

std::string Bitcoin(int64_t satoshi) {
  return fmt::format("{}.{:08} BTC", satoshi / 100'000'000, satoshi % 100'000'000);
}

namespace {

constexpr Subcommand kActions[] = {
    {"ingest", "Count events from files, standard input or a queue.", SetUpIngest},
    {"stats", "Totals of everything, of a finality provider or of a staker, and the rankings.", SetUpStats},
    {"audit", "Recompute every total from the delegations and compare.", SetUpAudit},
    {"delegations", "Look up delegations.", SetUpDelegations},
    {"unprocessable", "Look up refused messages, and process them again.", SetUpUnprocessable},
    {"shards", "Show the logical shards: their number, owners and contents.", SetUpShards},
    {"backfill", "Do the calculations that older delegations lack.", SetUpBackfill},
    {"generate", "Write generated events, one per line, to standard output.", SetUpGenerate},
    {"publish", "Put lines of a file into a queue of RabbitMQ.", SetUpPublish},
};

}  // namespace
}  // namespace staking

Action SetUpStaking(CLI::App& app) { return SetUpNested(app, staking::kActions); }

}  // namespace braid::cli
