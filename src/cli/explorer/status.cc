// braid explorer status: the tip, and how far and how fast the last sync was.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/explorer/common.h"
#include "services/explorer/source/sync_status.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::At;
using braid::explorer::source::SyncFigures;
using client::Bson;

void PrintStatusText(const At& tip, const std::optional<SyncFigures>& sync, double age) {
  fmt::print("tip     {}\n", Describe(tip));
  if (!sync) {
    fmt::print("sync    never run\n");
    return;
  }
  fmt::print("node    {}, at epoch {}\nsync    {}, {:.0f} s ago\nlag     {} epochs\n", sync->node, sync->node_epoch,
             sync->state, age, sync->lag());
  fmt::print("rate    {:.1f} epochs/s, {:.0f} transactions/s\n", sync->epochs_per_second,
             sync->transactions_per_second);
  fmt::print("so far  {} epochs, {} transactions, {} pivot switches (the deepest replaced {} epochs)\n", sync->grown,
             sync->transactions, sync->switches, sync->deepest);
  if (!sync->error.empty()) fmt::print("error   {}\n", sync->error);
}

Status RunExplorerStatus(const ExplorerCommon& common) {
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(common, StoreUse::kRead));
  BRAID_TRY(const At tip, opened.explorer->Tip());
  BRAID_TRY(std::optional<SyncFigures> sync,
            braid::explorer::source::LoadSyncFigures(*opened.clients, common.options.database));
  double age = 0;
  if (sync) {
    sync->tip = tip;  // others may have changed it since
    age = static_cast<double>(std::max<int64_t>(0, common.options.clock->NowMillis() - sync->updated_ms)) / 1000;
  }
  if (common.json) {
    Bson json;
    AppendStatus(tip, sync, age, json);
    client::PrintJson(json);
  } else {
    PrintStatusText(tip, sync, age);
  }
  return {};
}

}  // namespace

Action SetUpStatus(CLI::App& app) {
  const auto common = std::make_shared<ExplorerCommon>();
  AddExplorerOptions(app, *common);
  return [common] { return RunExplorerStatus(*common); };
}

}  // namespace braid::cli::explorer
