// The subcommands of `braid explorer`, one file each but for the queries that differ in little, and what they share:
// options, the open index, the options of a generated chain, and the printing of answers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braid/embedded.h"
#include "cli/subcommands.h"
#include "client/handles.h"
#include "services/explorer/explorer.h"
#include "services/explorer/json.h"
#include "services/explorer/source/chain_generator.h"

namespace CLI {
class App;
}  // namespace CLI

namespace braid::cli::explorer {

Action SetUpAccount(CLI::App& app);
Action SetUpBlock(CLI::App& app);
Action SetUpBlockTransactions(CLI::App& app);
Action SetUpBlocks(CLI::App& app);
Action SetUpEpoch(CLI::App& app);
Action SetUpGenerate(CLI::App& app);
Action SetUpImport(CLI::App& app);
Action SetUpLatest(CLI::App& app);
Action SetUpMiner(CLI::App& app);
Action SetUpMiners(CLI::App& app);
Action SetUpNode(CLI::App& app);
Action SetUpPivot(CLI::App& app);
Action SetUpPop(CLI::App& app);
Action SetUpReorgs(CLI::App& app);
Action SetUpStatus(CLI::App& app);
Action SetUpSync(CLI::App& app);
Action SetUpTransaction(CLI::App& app);
Action SetUpTransactions(CLI::App& app);
Action SetUpVerify(CLI::App& app);

using braid::explorer::AppendAt;
using braid::explorer::AppendOptional;

struct ExplorerCommon {
  std::string store = "./data";
  braid::explorer::ExplorerOptions options;
  bool json = false;
};

/// Adds --store, --db and --json.
void AddExplorerOptions(CLI::App& app, ExplorerCommon& common);

/// Adds --at.
void AddAtOption(CLI::App& app, std::string& at);

/// The store and the index on it, which is closed first.
struct OpenedExplorer {
  std::unique_ptr<Clients> clients;
  std::unique_ptr<braid::explorer::Explorer> explorer;
};
Result<OpenedExplorer> OpenExplorer(const ExplorerCommon& common, StoreUse use);

/// "epoch 7 (0x…)", for people.
std::string Describe(const braid::explorer::At& at);

/// "error": {"code", "message"}; nothing if it is OK.
void AppendError(const Status& status, client::Bson& json);
/// With --json an error is an object too. Gives the error back.
Status PrintError(const ExplorerCommon& common, const Status& error);

/// A field of a document as people read it; - if it is missing or null.
std::string FieldText(const bson_t& document, const char* name);

/// Every field of a document, one line each.
void PrintFields(const bson_t& document);

/// Rows as a table with a title for each column, which is also the name of the field.
void PrintTable(std::span<const char* const> columns, const std::vector<client::BsonPtr>& rows);

struct ChainArgs {
  braid::explorer::source::ChainOptions options;
  std::string from;  // a directory with real transactions; empty: all are made up
};

void AddChainOptions(CLI::App& app, ChainArgs& args);

/// The real transactions, none without --from.
Result<std::vector<braid::explorer::source::TransactionPtr>> RealTransactions(const ChainArgs& args);

}  // namespace braid::cli::explorer
