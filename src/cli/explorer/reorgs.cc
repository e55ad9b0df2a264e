// braid explorer reorgs: when the chain was reorganised, how deep, and from which pivot to which.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/explorer/common.h"
#include "services/explorer/json.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::ReorganisationsRead;
using client::Bson;

struct ReorgsArgs {
  ExplorerCommon common;
  int64_t limit = 20;
  std::string after;
};

Status RunReorgs(const ReorgsArgs& args) {
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kRead));
  const Result<ReorganisationsRead> read = ReadReorganisations(*opened.explorer, args.limit, args.after);
  if (!read.ok()) return PrintError(args.common, read.error());
  if (args.common.json) {
    Bson json;
    AppendReorganisations(*read, json);
    client::PrintJson(json);
    return {};
  }
  for (const Reorganisation& one : read->page.reorganisations) {
    fmt::print("{}  depth {:>4}  after epoch {}  {} {}  ->  {} {}\n", UtcText(one.time_ms), one.depth, one.fork,
               one.old_number, one.old_hash, one.new_number, one.new_hash);
  }
  if (!read->next.empty()) fmt::print("\nmore: --after {}\n", read->next);
  fmt::print("\nat {}\n", Describe(read->page.at));
  return {};
}

}  // namespace

Action SetUpReorgs(CLI::App& app) {
  const auto args = std::make_shared<ReorgsArgs>();
  AddExplorerOptions(app, args->common);
  app.add_option("--after", args->after, "Continue after a page: its `next`.")->type_name("CURSOR");
  app.add_option("--limit", args->limit, "Rows of the page.")
      ->check(CLI::Range(int64_t{1}, braid::explorer::kRowsMax))
      ->type_name("N")
      ->capture_default_str();
  return [args] { return RunReorgs(*args); };
}

}  // namespace braid::cli::explorer
