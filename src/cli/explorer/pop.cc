// braid explorer pop: the newest epochs and everything that they added are removed.
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/explorer/common.h"
#include "cli/patience.h"
#include "cli/transfer/progress.h"

namespace braid::cli::explorer {
namespace {

struct PopArgs {
  ExplorerCommon common;
  int64_t epochs = 0;
};

Status RunPop(PopArgs& args) {
  args.common.options.stop = &StopOnInterrupt();
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kExisting));
  const Result<braid::explorer::At> tip = opened.explorer->Pop(args.epochs);
  if (!tip.ok()) return PrintError(args.common, tip.error());
  if (args.common.json) {
    client::Bson json;
    json.Integer("popped", args.epochs);
    AppendAt(*tip, json);
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat(args.epochs, args.epochs == 1 ? " epoch" : " epochs", " removed; at ", Describe(*tip)));
  return {};
}

}  // namespace

Action SetUpPop(CLI::App& app) {
  const auto args = std::make_shared<PopArgs>();
  AddExplorerOptions(app, args->common);
  app.add_option("epochs", args->epochs, "Number of epochs to remove.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->type_name("N")
      ->required();
  return [args] { return RunPop(*args); };
}

}  // namespace braid::cli::explorer
