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
    {"ingest", "Take in outputs from files, standard input or engines over TCP.", SetUpIngest},
    {"verify", "Read every chain again and name all that is damaged.", SetUpVerify},
    {"recover", "Verify every chain, then bring the views up to it.", SetUpRecover},
    {"follow", "Keep the views up to the log while others write it.", SetUpFollow},
    {"stats", "Each symbol: records, newest output, halt, lease; each view: how far it is.", SetUpStats},
    {"records", "Print what is stored, one record per line.", SetUpRecords},
    {"balances", "What each user has of each asset, as far as the views are.", SetUpBalances},
    {"trades", "Trades by symbol, user and output.", SetUpTrades},
    {"orders", "Orders by user, symbol and status.", SetUpOrders},
    {"migrate", "From one chain over all symbols to one a symbol, while writers write.", SetUpMigrate},
    {"repair", "Make a halted symbol go on.", SetUpRepair},
    {"keygen", "Make a pair of keys for checkpoints.", SetUpKeygen},
    {"checkpoint", "Sign where every chain stands, or list what was signed.", SetUpCheckpoint},
    {"prove", "Prove that an output was in the log when a checkpoint was made.", SetUpProve},
    {"check-proof", "Check such a proof; needs no store.", SetUpCheckProof},
    {"generate", "Write made-up outputs, one a line, to standard output.", SetUpGenerate},
};

}  // namespace
}  // namespace settlement

Action SetUpSettlement(CLI::App& app) { return SetUpNested(app, settlement::kActions); }

}  // namespace braid::cli
