// braid explorer account, block-transactions, blocks, epoch, miner, miners, pivot, transactions: lists, page by page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/explorer/common.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::Explorer;
using braid::explorer::kRowsMax;
using braid::explorer::Page;
using braid::explorer::PageRequest;
using client::Bson;

struct ListArgs {
  ExplorerCommon common;
  PageRequest page;
  std::string subject;  // whose list it is; empty if there is one only
};

// A list as the command line shows it.
struct ListKind {
  const char* rows;          // their name in the JSON
  const char* subject;       // null: the list is one of all
  const char* subject_type;  // in the help
  Result<Page> (*ask)(Explorer& explorer, const ListArgs& args);
  std::vector<const char*> columns;
};

std::vector<const char*> BlockColumns() {
  return {"score", "hash", "epochNumber", "isPivot", "miner", "timestamp", "difficulty", "transactionCount"};
}

Status RunList(const ListArgs& args, const ListKind& kind) {
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kRead));
  const Result<Page> page = kind.ask(*opened.explorer, args);
  if (!page.ok()) return PrintError(args.common, page.error());
  if (args.common.json) {
    Bson json;
    AppendPage(kind.rows, *page, json);
    client::PrintJson(json);
  } else if (page->found) {
    PrintTable(kind.columns, page->rows);
    if (!page->next.empty()) fmt::print("\nmore: --after {}\n", page->next);
    fmt::print("\nat {}\n", Describe(page->at));
  }
  if (page->found) return {};
  return Status(Code::kOperationFailed,
                StrCat("there is no ", kind.subject, " ", args.subject, " at ", Describe(page->at)));
}

Action SetUpList(CLI::App& app, const ListKind& kind) {
  const auto args = std::make_shared<ListArgs>();
  AddExplorerOptions(app, args->common);
  AddAtOption(app, args->page.at);
  app.add_option("--after", args->page.after, "Continue after a page: its `next`.")->type_name("CURSOR");
  app.add_option("--limit", args->page.limit, "Rows of the page.")
      ->check(CLI::Range(int64_t{1}, kRowsMax))
      ->type_name("N")
      ->capture_default_str();
  if (kind.subject != nullptr) {
    app.add_option(kind.subject, args->subject, StrCat("Of which ", kind.subject, "."))
        ->type_name(kind.subject_type)
        ->required();
  }
  return [args, kind] { return RunList(*args, kind); };
}

}  // namespace

Action SetUpAccount(CLI::App& app) {
  return SetUpList(app,
                   {.rows = "transactions",
                    .subject = "account",
                    .subject_type = "ADDRESS",
                    .ask = [](Explorer& explorer,
                              const ListArgs& args) { return explorer.AccountTransactions(args.subject, args.page); },
                    .columns = {"hash", "type", "timestamp"}});
}

Action SetUpBlockTransactions(CLI::App& app) {
  return SetUpList(app,
                   {.rows = "transactions",
                    .subject = "block",
                    .subject_type = "HASH",
                    .ask = [](Explorer& explorer,
                              const ListArgs& args) { return explorer.BlockTransactions(args.subject, args.page); },
                    .columns = {"transactionIndex", "hash", "from", "to", "value"}});
}

Action SetUpBlocks(CLI::App& app) {
  return SetUpList(app, {.rows = "blocks",
                         .subject = nullptr,
                         .subject_type = nullptr,
                         .ask = [](Explorer& explorer, const ListArgs& args) { return explorer.Blocks(args.page); },
                         .columns = BlockColumns()});
}

Action SetUpEpoch(CLI::App& app) {
  return SetUpList(app, {.rows = "blocks",
                         .subject = "epoch",
                         .subject_type = "NUMBER",
                         .ask = [](Explorer& explorer, const ListArgs& args) -> Result<Page> {
                           BRAID_TRY(const int64_t number, braid::explorer::ReadEpochNumber(args.subject));
                           return explorer.EpochBlocks(number, args.page);
                         },
                         .columns = BlockColumns()});
}

Action SetUpMiner(CLI::App& app) {
  return SetUpList(app, {.rows = "blocks",
                         .subject = "miner",
                         .subject_type = "ADDRESS",
                         .ask = [](Explorer& explorer,
                                   const ListArgs& args) { return explorer.MinerBlocks(args.subject, args.page); },
                         .columns = BlockColumns()});
}

Action SetUpMiners(CLI::App& app) {
  return SetUpList(app, {.rows = "miners",
                         .subject = nullptr,
                         .subject_type = nullptr,
                         .ask = [](Explorer& explorer, const ListArgs& args) { return explorer.Miners(args.page); },
                         .columns = {"miner", "block", "score"}});
}

Action SetUpPivot(CLI::App& app) {
  return SetUpList(app, {.rows = "pivots",
                         .subject = nullptr,
                         .subject_type = nullptr,
                         .ask = [](Explorer& explorer, const ListArgs& args) { return explorer.Pivots(args.page); },
                         .columns = {"epoch", "hash"}});
}

Action SetUpTransactions(CLI::App& app) {
  return SetUpList(app,
                   {.rows = "transactions",
                    .subject = nullptr,
                    .subject_type = nullptr,
                    .ask = [](Explorer& explorer, const ListArgs& args) { return explorer.Transactions(args.page); },
                    .columns = {"score", "hash", "from", "to", "value", "timestamp"}});
}

}  // namespace braid::cli::explorer
