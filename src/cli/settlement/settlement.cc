// braid settlement: the log of a matching engine's outputs, and its maintenance.
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/settlement/actions.h"

namespace braid::cli {
namespace settlement {

void AddJsonOption(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "One JSON object on standard output; everything else goes to standard error.");
}

void AddCommonOptions(CLI::App& app, Common& common) {
  AddStoreOption(app, common.store);
  app.add_option("-d,--db", common.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("--log", common.options.log, "Collection of the log; the names of the others begin with it.")
      ->type_name("NAME")
      ->capture_default_str();
  AddJsonOption(app, common.json);
}

Result<std::unique_ptr<Chains>> OpenLog(Clients& clients, const Common& common) {
  ChainsOptions options = common.options.ToChains();
  options.create = false;
  auto opened = Chains::Open(clients, options);
  if (opened.ok() || opened.error().code() != Code::kNamespaceNotFound) return opened;
  return Status(Code::kNamespaceNotFound,
                StrCat(opened.error().message(), "; --db and --log name them, and `ingest` makes them"));
}

namespace {

constexpr Subcommand kActions[] = {
    {"ingest", "Append outputs from files, standard input or engines over TCP.", SetUpIngest},
    {"verify", "Read every chain and report all damage.", SetUpVerify},
    {"recover", "Verify every chain, then update the views.", SetUpRecover},
    {"follow", "Keep the views up to date while others write the log.", SetUpFollow},
    {"stats", "Show records, newest output, halt and lease of each symbol, and the progress of each view.", SetUpStats},
    {"records", "Print the stored records, one per line.", SetUpRecords},
    {"balances", "Balances of users by asset, as of the views.", SetUpBalances},
    {"trades", "Trades by symbol, user and output.", SetUpTrades},
    {"orders", "Orders by user, symbol and status.", SetUpOrders},
    {"migrate", "Migrate from one chain over all symbols to one per symbol, while writers continue.", SetUpMigrate},
    {"repair", "Let a halted symbol accept outputs again.", SetUpRepair},
    {"keygen", "Make a pair of keys for checkpoints.", SetUpKeygen},
    {"checkpoint", "Sign the heads of all chains, or list the stored checkpoints.", SetUpCheckpoint},
    {"prove", "Prove that an output was in the log when a checkpoint was made.", SetUpProve},
    {"check-proof", "Check such a proof; needs no store.", SetUpCheckProof},
    {"generate", "Write generated outputs, one per line, to standard output.", SetUpGenerate},
};

}  // namespace
}  // namespace settlement

Action SetUpSettlement(CLI::App& app) { return SetUpNested(app, settlement::kActions); }

}  // namespace braid::cli
