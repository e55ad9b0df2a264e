// braid explorer: the index behind a block explorer.
#include <CLI/CLI.hpp>

#include "cli/explorer/common.h"

namespace braid::cli {
namespace explorer {
namespace {

constexpr Subcommand kExplorerActions[] = {
    {"account", "The transactions of an account, newest first.", SetUpAccount},
    {"block", "A block by its hash.", SetUpBlock},
    {"block-transactions", "The transactions of a block, in order.", SetUpBlockTransactions},
    {"blocks", "The blocks in execution order, newest first.", SetUpBlocks},
    {"epoch", "The blocks of an epoch, in execution order.", SetUpEpoch},
    {"generate", "Write a seeded chain with pivot switches, one epoch per line.", SetUpGenerate},
    {"import", "Import epochs from files, one JSON object per line.", SetUpImport},
    {"latest", "Difficulty, transactions and transactions per second of the newest blocks.", SetUpLatest},
    {"miner", "The blocks of a miner, newest first.", SetUpMiner},
    {"miners", "Every miner with its first block, by address.", SetUpMiners},
    {"node", "Serve a generated chain as a node's JSON-RPC does, for tests and demonstrations.", SetUpNode},
    {"pivot", "The pivot chain, newest first.", SetUpPivot},
    {"pop", "Remove the newest epochs.", SetUpPop},
    {"reorgs", "The record of reorganisations, newest first.", SetUpReorgs},
    {"status", "Tip, rate and lag.", SetUpStatus},
    {"sync", "Follow the JSON-RPC of a node.", SetUpSync},
    {"transaction", "A transaction by its hash.", SetUpTransaction},
    {"transactions", "The transactions in execution order, newest first.", SetUpTransactions},
    {"verify", "Recount every list, sum and window.", SetUpVerify},
};

}  // namespace
}  // namespace explorer

Action SetUpExplorer(CLI::App& app) { return SetUpNested(app, explorer::kExplorerActions); }

}  // namespace braid::cli
