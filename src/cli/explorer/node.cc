// braid explorer node: a generated chain behind the JSON-RPC of a node, with the faults that real ones have.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/strings.h"
#include "cli/explorer/common.h"
#include "cli/patience.h"
#include "cli/transfer/progress.h"
#include "services/explorer/source/chain_node.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::source::ChainNode;
using braid::explorer::source::NodeServer;

struct ExplorerNodeArgs {
  ChainArgs chain;
  braid::explorer::source::NodeOptions node;
  braid::explorer::source::NodeServerOptions server;
};

Status RunExplorerNode(ExplorerNodeArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  args.node.chain = args.chain.options;
  BRAID_CHECK_OK(args.node.Validate());
  BRAID_TRY(auto real, RealTransactions(args.chain));
  ChainNode node(args.node, std::move(real));
  BRAID_TRY(const std::unique_ptr<NodeServer> server, NodeServer::Open(node, args.server));
  fmt::print("listening on {}\n", server->url());
  std::fflush(stdout);
  while (!stop.load()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const ChainNode::State state = node.state();
  transfer::PrintLine(StrCat("epoch ", state.epoch, " after ", state.switches, " pivot switches; ", state.requests,
                             " requests, ", state.faults, " faults"));
  return {};
}

void AddFaultOptions(CLI::App& app, braid::explorer::source::NodeFaults& faults) {
  app.add_option("--slow", faults.slow_percent, "Percent of the requests that are answered late.")
      ->check(CLI::Range(0, 100))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--slow-ms", faults.slow_ms, "The longest delay, in milliseconds.")
      ->check(CLI::Range(0, 600'000))
      ->type_name("MS")
      ->capture_default_str();
  app.add_option("--errors", faults.error_percent,
                 "Percent of the requests that fail: HTTP errors, lost connections, incomplete answers.")
      ->check(CLI::Range(0, 100))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--inconsistent", faults.inconsistent_percent,
                 "Percent of the calls whose answer contradicts the others: from an abandoned branch, for another "
                 "block, or with a wrong number.")
      ->check(CLI::Range(0, 100))
      ->type_name("P")
      ->capture_default_str();
}

}  // namespace

Action SetUpNode(CLI::App& app) {
  const auto args = std::make_shared<ExplorerNodeArgs>();
  app.add_option("--port", args->server.port, "On 127.0.0.1; 0: a free one, which is printed.")
      ->type_name("PORT")
      ->capture_default_str();
  app.add_option("--start", args->node.epochs_at_start, "Epochs at the start.")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--epochs", args->node.epochs_max, "The chain stops growing at this number of epochs.")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* interval =
      app.add_option("--interval", args->server.interval_ms, "Milliseconds between two steps of the chain; 0: none.")
          ->check(CLI::Range(0, 3'600'000))
          ->type_name("MS")
          ->capture_default_str();
  app.add_flag("--paced", args->node.paced,
               "Takes a step whenever a client has read the newest block and asks again, so that it sees every switch.")
      ->excludes(interval);
  app.add_option("--not-executed", args->node.not_executed, "Number of the newest epochs that have no receipts yet.")
      ->check(CLI::Range(0, 1000))
      ->type_name("N")
      ->capture_default_str();
  AddFaultOptions(app, args->node.faults);
  AddChainOptions(app, args->chain);
  return [args] { return RunExplorerNode(*args); };
}

}  // namespace braid::cli::explorer
