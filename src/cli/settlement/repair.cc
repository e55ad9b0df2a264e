// braid settlement repair: lets halted symbols continue, by an operator's decision (C4).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "patterns/chains/hash.h"
#include "services/settlement/json.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::UnplacedLine;
using braid::settlement::UnplacedLines;

struct RepairArgs {
  Common common;
  std::optional<int64_t> symbol;
  bool all = false;
  bool unplaced = false;
  RepairOptions repair;
  bool skip = false;
  bool head_from_log = false;
  bool tree = false;
  bool dry_run = false;
};

const char* NameOfAction(const RepairArgs& args) {
  return args.tree ? "tree_from_log" : args.head_from_log ? "head_from_log" : args.skip ? "skip" : "resume";
}

// A symbol that only awaits outputs continues by itself; it is repaired only if these outputs are given up.
bool OnlyWaits(const ChainHead& head, const RepairArgs& args) { return !head.broken && !args.skip; }

// What the symbol accepts after the repair.
std::string Accepts(const ChainHead& head, const RepairArgs& args) {
  if (OnlyWaits(head, args)) {
    const AwaitedRecord& first = head.awaits.front();
    return StrCat(
        "waits for output ", first.sequence,
        first.held_by
            ? StrCat(": repair symbol ", *first.held_by, " first, and it continues by itself with that output")
            : std::string(": it continues by itself when that output is submitted again, corrected"));
  }
  const bool waits = !args.skip && !head.awaits.empty();
  return StrCat("would accept any output after ", head.sequence, " whose prev_hash, if it names one, is ",
                chains::HexOf(head.hash),
                waits ? StrCat("; nothing after output ", head.awaits.front().sequence, " before that one") : "");
}

client::Bson& AppendRepair(client::Bson& row, const ChainHead& head, const RepairArgs& args) {
  row.Integer("symbol_id", head.chain)
      .Text("action", OnlyWaits(head, args) ? "wait" : NameOfAction(args))
      .Text("halted_because", head.halted)
      .Integer("accepts_after", head.sequence)
      .Text("accepts_prev_hash", chains::HexOf(head.hash));
  if (!args.skip && !head.awaits.empty()) {
    row.Integer("awaits", head.awaits.front().sequence);
    if (head.awaits.front().held_by) row.Integer("repair_first", *head.awaits.front().held_by);
  }
  return row;
}

// The symbols to repair, and with --all those that wait beside them.
Result<std::vector<ChainHead>> HaltedHeads(Chains& chains, const RepairArgs& args) {
  BRAID_TRY(std::vector<ChainHead> heads, chains.Heads());
  std::erase_if(
      heads, [&](const ChainHead& head) { return head.halted.empty() || (args.symbol && head.chain != *args.symbol); });
  return heads;
}

Status RepairAll(Chains& chains, const RepairArgs& args) {
  BRAID_TRY(const std::vector<ChainHead> heads, HaltedHeads(chains, args));
  client::Bson rows;
  int64_t repaired = 0;
  for (size_t i = 0; i < heads.size(); ++i) {
    const ChainHead& head = heads[i];
    const bool repairs = !OnlyWaits(head, args);
    if (repairs && !args.dry_run) BRAID_CHECK_OK(chains.Repair(head.chain, args.repair));
    if (repairs) ++repaired;
    client::Bson row;
    rows.Document(StrCat(i).c_str(), AppendRepair(row, head, args));
    if (!args.common.json)
      std::printf("symbol %lld: %s\n", static_cast<long long>(head.chain), Accepts(head, args).c_str());
  }
  if (args.common.json) {
    client::Bson json;
    json.Bool("ok", true).Bool("dry_run", args.dry_run).Integer("repaired", args.dry_run ? 0 : repaired);
    client::PrintJson(json.Array("symbols", rows));
  }
  transfer::PrintLine(StrCat(heads.size(), " symbols are halted; ", repaired, " of them ",
                             args.dry_run ? "would go on" : "go on", ", the others wait for outputs"));
  return {};
}

Status RepairOne(Chains& chains, const RepairArgs& args) {
  BRAID_CHECK_OK(chains.Repair(*args.symbol, args.repair));
  if (args.common.json) {
    client::Bson json;
    json.Bool("ok", true).Integer("symbol_id", *args.symbol).Text("action", NameOfAction(args));
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat("symbol ", *args.symbol, " goes on; ", args.common.options.log,
                             "_repairs says what was done, by whom and why"));
  return {};
}

// With --all the symbols without a tree, which were written by versions without trees.
Status RepairTrees(Chains& chains, const RepairArgs& args) {
  BRAID_TRY(std::vector<ChainHead> heads, chains.Heads());
  std::erase_if(
      heads, [&](const ChainHead& head) { return args.symbol ? head.chain != *args.symbol : head.tree.has_value(); });
  if (args.symbol && heads.empty()) return Status(Code::kBadValue, StrCat("the log has no symbol ", *args.symbol));
  client::Bson rows;
  for (size_t i = 0; i < heads.size(); ++i) {
    if (!args.dry_run) BRAID_CHECK_OK(chains.Repair(heads[i].chain, args.repair));
    client::Bson row;
    row.Integer("symbol_id", heads[i].chain).Text("action", NameOfAction(args)).Integer("records", heads[i].records);
    rows.Document(StrCat(i).c_str(), row);
  }
  if (args.common.json) {
    client::Bson json;
    json.Bool("ok", true).Bool("dry_run", args.dry_run);
    json.Integer("repaired", args.dry_run ? 0 : static_cast<int64_t>(heads.size()));
    client::PrintJson(json.Array("symbols", rows));
  }
  transfer::PrintLine(StrCat(heads.size(), args.dry_run ? " symbols would get" : " symbols got", " a tree from the log",
                             args.symbol ? "" : "; all others have one"));
  return {};
}

// Refused lines that could be of any symbol.
Status RepairUnplaced(Chains& chains, const RepairArgs& args) {
  BRAID_TRY(const std::vector<UnplacedLine> lines, UnplacedLines::List(chains.clients(), chains.options()));
  if (!args.dry_run) BRAID_CHECK_OK(UnplacedLines::GiveUp(chains, args.repair.by, args.repair.reason));
  if (args.common.json) {
    client::Bson json;
    json.Bool("ok", true).Bool("dry_run", args.dry_run);
    json.Integer("repaired", args.dry_run ? 0 : static_cast<int64_t>(lines.size()));
    AppendUnplaced(lines, json);
    client::PrintJson(json);
  } else {
    for (const UnplacedLine& line : lines) std::printf("%s: %s\n", line.Name().c_str(), line.reason.c_str());
  }
  transfer::PrintLine(
      StrCat(lines.size(), " lines that could be of any symbol ", args.dry_run ? "would be given up" : "are given up"));
  return {};
}

std::string WhatIsWrongWith(const RepairArgs& args) {
  if (args.unplaced && (args.symbol || args.all)) return "--unplaced is for all symbols at once";
  if (!args.unplaced && args.symbol.has_value() == args.all) return "give either --symbol or --all";
  if (args.all && args.head_from_log) return "--head-from-log is for one symbol: each has to be looked at";
  const bool signed_off = !args.repair.by.empty() && !args.repair.reason.empty();
  return args.dry_run || signed_off ? "" : "a repair needs --by and --reason";
}

Status RunRepair(RepairArgs& args) {
  if (args.skip) args.repair.action = RepairAction::kSkip;
  if (args.head_from_log) args.repair.action = RepairAction::kHeadFromLog;
  if (args.tree) args.repair.action = RepairAction::kTreeFromLog;
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients,
            OpenStoreFor(args.common.store, args.dry_run ? StoreUse::kRead : StoreUse::kExisting));
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(*clients, args.common));
  if (args.unplaced) return RepairUnplaced(*chains, args);
  if (args.tree) return RepairTrees(*chains, args);
  return args.all || args.dry_run ? RepairAll(*chains, args) : RepairOne(*chains, args);
}

}  // namespace

Action SetUpRepair(CLI::App& app) {
  const auto args = std::make_shared<RepairArgs>();
  AddCommonOptions(app, args->common);
  app.add_option("--symbol", args->symbol, "Which.")->type_name("S");
  app.add_flag("--all", args->all,
               "Every symbol that has to be repaired; those that wait for them continue by themselves.");
  app.add_option("--by", args->repair.by, "The person who decided it; required, except with --dry-run.")
      ->type_name("NAME");
  app.add_option("--reason", args->repair.reason, "The reason, which is kept with the repair; required like --by.")
      ->type_name("TEXT");
  CLI::Option* skip = app.add_flag("--skip", args->skip,
                                   "Gives up the outputs that the symbol waits for; they are kept with the repair.");
  CLI::Option* head = app.add_flag("--head-from-log", args->head_from_log,
                                   "Sets the head to the newest record of the log, after a head was lost or changed.")
                          ->excludes(skip);
  app.add_flag("--tree", args->tree,
               "Rebuilds the symbol's Merkle tree from the log; with --all that of each symbol without one.")
      ->excludes(skip)
      ->excludes(head);
  app.add_flag(
         "--unplaced", args->unplaced,
         "Gives up refused lines that could be of any symbol, after which nothing new is taken; they are kept with "
         "the repair.")
      ->excludes("--skip")
      ->excludes("--head-from-log")
      ->excludes("--tree");
  app.add_flag("--dry-run", args->dry_run, "Changes nothing: says what would be accepted, and what to repair first.");
  CheckUsage(app, [args] { return WhatIsWrongWith(*args); });
  return [args] { return RunRepair(*args); };
}

}  // namespace braid::cli::settlement
