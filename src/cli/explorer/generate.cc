// braid explorer generate: a chain with pivot switches to try things out with.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>

#include "cli/explorer/common.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::source::ChainGenerator;
using braid::explorer::source::MadeLink;

struct ExplorerGenerateArgs {
  ChainArgs chain;
  uint64_t epochs = 100;
  bool survivors = false;
};

Status WriteEpoch(const MadeLink& link) {
  const std::string line = EpochLine(link) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size()) return {};
  return Status(Code::kOutOfDiskSpace, "cannot write to standard output");
}

Status RunExplorerGenerate(const ExplorerGenerateArgs& args) {
  BRAID_CHECK_OK(args.chain.options.Validate());
  BRAID_TRY(auto real, RealTransactions(args.chain));
  if (args.epochs == 0 && real.empty()) {
    return Status(Code::kBadValue, "--epochs 0 ends with the last real transaction: give --from DIR, or a number");
  }
  ChainGenerator generator(args.chain.options, std::move(real));
  std::deque<MadeLink> held;  // epochs that a switch may still replace
  const size_t held_max = args.survivors ? args.chain.options.switch_depth_max : 0;
  for (uint64_t i = 0; args.epochs == 0 ? generator.real_left() > 0 : i < args.epochs; ++i) {
    ChainGenerator::Step step = generator.Next();
    for (int64_t popped = 0; args.survivors && popped < step.popped; ++popped) held.pop_back();
    for (MadeLink& link : step.grown) held.push_back(std::move(link));
    for (; held.size() > held_max; held.pop_front()) BRAID_CHECK_OK(WriteEpoch(held.front()));
  }
  for (const MadeLink& link : held) BRAID_CHECK_OK(WriteEpoch(link));
  if (std::fflush(stdout) == 0) return {};
  return Status(Code::kOutOfDiskSpace, "cannot write to standard output");
}

}  // namespace

Action SetUpGenerate(CLI::App& app) {
  const auto args = std::make_shared<ExplorerGenerateArgs>();
  app.add_option("--epochs", args->epochs,
                 "Number of epochs of the final chain; 0: as many as are needed for every real transaction.")
      ->type_name("N")
      ->capture_default_str();
  AddChainOptions(app, args->chain);
  app.add_flag("--survivors", args->survivors, "Only the epochs of the final chain.");
  return [args] { return RunExplorerGenerate(*args); };
}

}  // namespace braid::cli::explorer
