// braid explorer verify: every list, sum and window recounted from the documents.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>

#include "base/strings.h"
#include "cli/explorer/common.h"
#include "cli/patience.h"
#include "cli/transfer/progress.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::Explorer;
using client::Bson;

void PrintVerificationJson(const Explorer::Verification& verification) {
  const Timeline::Verification& timeline = verification.timeline;
  Bson damage;
  for (size_t i = 0; i < timeline.damage.size(); ++i) {
    Bson one;
    if (timeline.damage[i].epoch < 0) {
      BSON_APPEND_NULL(one.get(), "epoch");
    } else {
      one.Integer("epoch", timeline.damage[i].epoch);
    }
    one.Text("what", timeline.damage[i].what);
    damage.Document(StrCat(i).c_str(), one);
  }
  Bson json;
  json.Bool("ok", timeline.ok())
      .Integer("epochs", timeline.epochs)
      .Integer("blocks", verification.blocks)
      .Integer("transactions", verification.transactions)
      .Integer("documents", timeline.documents);
  AppendOptional("digest", timeline.digest, json);
  json.Integer("damaged", timeline.damage_count).Array("damage", damage);
  AppendAt({.epoch = timeline.tip.number, .pivot = timeline.tip.hash}, json);
  client::PrintJson(json);
}

Status RunExplorerVerify(ExplorerCommon& common) {
  common.options.stop = &StopOnInterrupt();
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(common, StoreUse::kRead));
  std::atomic<int64_t> done = 0;
  Result<Explorer::Verification> verification = Status(Code::kInternalError, "not run");
  {
    const transfer::Progress progress([&] { return StrCat(done.load(), " epochs verified"); }, false);
    verification = opened.explorer->Verify([&](int64_t epochs) { done = epochs; });
  }
  if (!verification.ok()) return PrintError(common, verification.error());
  const Timeline::Verification& timeline = verification->timeline;
  if (common.json) {
    PrintVerificationJson(*verification);
  } else {
    for (const TimelineDamage& damage : timeline.damage) {
      fmt::print("{}{}\n", damage.epoch < 0 ? std::string() : StrCat("epoch ", damage.epoch, ": "), damage.what);
    }
    fmt::print("epochs        {}\nblocks        {}\ntransactions  {}\ndocuments     {}\ndigest        {}\n",
               timeline.epochs, verification->blocks, verification->transactions, timeline.documents, timeline.digest);
  }
  if (timeline.ok()) return {};
  return Status(Code::kRecordDamaged, StrCat(timeline.damage_count, " differences were found"));
}

}  // namespace

Action SetUpVerify(CLI::App& app) {
  const auto common = std::make_shared<ExplorerCommon>();
  AddExplorerOptions(app, *common);
  return [common] { return RunExplorerVerify(*common); };
}

}  // namespace braid::cli::explorer
