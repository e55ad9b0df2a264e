// braid settlement repair: a halted symbol goes on, because somebody decided so (C4).
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/settlement/actions.h"
#include "cli/store_option.h"
#include "cli/transfer/progress.h"

namespace braid::cli::settlement {
namespace {

struct RepairArgs {
  Common common;
  int64_t symbol = 0;
  RepairOptions repair;
  bool head_from_log = false;
};

Status RunRepair(RepairArgs& args) {
  if (args.head_from_log) args.repair.action = RepairAction::kHeadFromLog;
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.common.store));
  BRAID_TRY(const std::unique_ptr<Chains> chains, Chains::Open(*clients, args.common.options.ToChains()));
  BRAID_CHECK_OK(chains->Repair(args.symbol, args.repair));
  if (args.common.json) {
    client::Bson json;
    json.Bool("ok", true)
        .Integer("symbol_id", args.symbol)
        .Text("action", args.head_from_log ? "head_from_log" : "resume");
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat("symbol ", args.symbol, " goes on; ", args.common.options.log,
                             "_repairs says what was done, by whom and why"));
  return {};
}

}  // namespace

Action SetUpRepair(CLI::App& app) {
  const auto args = std::make_shared<RepairArgs>();
  AddCommonOptions(app, args->common);
  app.add_option("--symbol", args->symbol, "Which.")->type_name("S")->required();
  app.add_option("--by", args->repair.by, "Who decided it.")->type_name("NAME")->required();
  app.add_option("--reason", args->repair.reason, "Why; is kept with the repair.")->type_name("TEXT")->required();
  app.add_flag("--head-from-log", args->head_from_log,
               "Sets the head to the newest record of the log, after a head was lost or changed.");
  return [args] { return RunRepair(*args); };
}

}  // namespace braid::cli::settlement
