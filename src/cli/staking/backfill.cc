// braid staking backfill: calculations that older delegations lack.
#include "cli/patience.h"
#include "services/staking/ingestor.h"

#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/staking/actions.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli::staking {
namespace {

using braid::staking::Outcome;
using braid::staking::Tables;

Status RunBackfill(Common& common) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(common.store, {.stop = &stop, .json = common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(common.store, StoreUse::kExisting));
  BRAID_TRY(const std::unique_ptr<Tables> tables, Tables::Open(*clients, common.options));
  std::atomic<uint64_t> done = 0;
  Outcome outcome;
  {
    const transfer::Progress progress([&] { return StrCat(done.load(), " keys looked at"); }, false);
    BRAID_TRY(outcome, Backfill(*clients, *tables, stop, done));
  }
  if (common.json) {
    client::Bson json;
    json.Integer("keys", static_cast<int64_t>(done.load())).Integer("filled", static_cast<int64_t>(outcome.accepted));
    client::PrintJson(json);
  }
  transfer::PrintLine(
      StrCat(done.load(), " keys lacked a calculation; ", outcome.accepted, " delegations were filled in"));
  return {};
}

}  // namespace

Action SetUpBackfill(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  AddCommonOptions(app, *common);
  return [common] { return RunBackfill(*common); };
}

}  // namespace braid::cli::staking
