// braid explorer block, transaction, latest: queries that give one thing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/explorer/common.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::Explorer;
using braid::explorer::Found;
using braid::explorer::Latest;
using client::Bson;

struct LookupArgs {
  ExplorerCommon common;
  std::string hash;
  std::string at;
};

using AskForOne = Result<Found> (Explorer::*)(const std::string& hash, const std::string& at);

// `name` is what is looked up: block or transaction.
Status RunLookup(const LookupArgs& args, const char* name, AskForOne ask) {
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kRead));
  const Result<Found> found = (*opened.explorer.*ask)(args.hash, args.at);
  if (!found.ok()) return PrintError(args.common, found.error());
  if (args.common.json) {
    Bson json;
    AppendFound(name, *found, json);
    client::PrintJson(json);
  } else if (found->document != nullptr) {
    PrintFields(*found->document);
    fmt::print("\nat {}\n", Describe(found->at));
  }
  if (found->document != nullptr) return {};
  return Status(Code::kOperationFailed, StrCat("there is no ", name, " ", args.hash, " at ", Describe(found->at)));
}

Action SetUpLookup(CLI::App& app, const char* name, AskForOne ask) {
  const auto args = std::make_shared<LookupArgs>();
  AddExplorerOptions(app, args->common);
  AddAtOption(app, args->at);
  app.add_option("hash", args->hash, StrCat("The hash of the ", name, "."))->type_name("HASH")->required();
  return [args, name, ask] { return RunLookup(*args, name, ask); };
}

Status RunLatest(const LookupArgs& args) {
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kRead));
  const Result<Latest> latest = opened.explorer->LatestBlocks(args.at);
  if (!latest.ok()) return PrintError(args.common, latest.error());
  if (!args.common.json) {
    fmt::print(
        "blocks        {}\ndifficulty    {}\ntransactions  {}\nseconds       {}\ntps           {:.2f}\n\nat {}\n",
        latest->blocks, latest->difficulty, latest->transactions, latest->seconds, latest->tps, Describe(latest->at));
    return {};
  }
  Bson json;
  AppendLatest(*latest, json);
  client::PrintJson(json);
  return {};
}

}  // namespace

Action SetUpBlock(CLI::App& app) { return SetUpLookup(app, "block", &Explorer::Block); }
Action SetUpTransaction(CLI::App& app) { return SetUpLookup(app, "transaction", &Explorer::Transaction); }

Action SetUpLatest(CLI::App& app) {
  const auto args = std::make_shared<LookupArgs>();
  AddExplorerOptions(app, args->common);
  AddAtOption(app, args->at);
  app.add_option("--window", args->common.options.window_blocks, "How many of the newest blocks.")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  return [args] { return RunLatest(*args); };
}

}  // namespace braid::cli::explorer
