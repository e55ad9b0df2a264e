// braid explorer sync: the index follows a node.
#include "services/explorer/source/sync.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "base/random.h"
#include "base/strings.h"
#include "cli/explorer/common.h"
#include "cli/patience.h"
#include "cli/transfer/progress.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::source::NodeSource;
using braid::explorer::source::Sync;
using braid::explorer::source::SyncFigures;

// How often the document that `status` shows is written.
constexpr std::chrono::seconds kStatusEvery{1};

struct ExplorerSyncArgs {
  ExplorerCommon common;
  std::string url;
  std::string ca_file;
  braid::explorer::source::NodeSourceOptions source;
  braid::explorer::source::SyncOptions sync;
  int64_t until = -1;
  int64_t poll_ms = 500;
  double timeout_s = 20;
  double patience_s = 60;
  bool quiet = false;
};

std::chrono::milliseconds FromSeconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

Status PrepareSync(ExplorerSyncArgs& args, const std::atomic<bool>& stop) {
  BRAID_TRY(args.source.rpc.address, braid::explorer::source::ParseHttpAddress(args.url));
  args.source.rpc.address.ca_file = args.ca_file;
  args.source.rpc.timeout = FromSeconds(args.timeout_s);
  args.source.rpc.patience = FromSeconds(args.patience_s);
  args.source.rpc.seed = RandomSeed();
  args.source.rpc.stop = &stop;
  args.sync.patience = FromSeconds(args.patience_s);
  args.sync.poll = std::chrono::milliseconds(args.poll_ms);
  if (args.until >= 0) args.sync.until = args.until;
  args.sync.stop = &stop;
  args.common.options.stop = &stop;
  return {};
}

void PrintSyncResult(const SyncFigures& figures, double seconds, const Status& failure) {
  client::Bson json;
  AppendSyncFigures(figures, json);
  if (!failure.ok()) {
    client::Bson error;
    error.Text("code", CodeName(failure.code())).Text("message", failure.message());
    json.Document("error", error);
  }
  json.Double("seconds", seconds);
  AppendAt(figures.tip, json);
  client::PrintJson(json);
}

Status RunExplorerSync(ExplorerSyncArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  BRAID_CHECK_OK(PrepareSync(args, stop));
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kCreate));
  NodeSource source(args.source);
  const auto start = std::chrono::steady_clock::now();
  auto next_status = start;
  args.sync.on_figures = [&](const SyncFigures& figures) {
    const auto now = std::chrono::steady_clock::now();
    const bool is_last = figures.state == "ended" || figures.state == "failed";
    if (now < next_status && !is_last) return;
    next_status = now + kStatusEvery;
    StoreSyncFigures(*opened.clients, args.common.options.database, figures)
        .Ignore("a store that fails says so where it matters");
  };
  Sync sync(*opened.explorer, source, args.sync);
  Status status;
  {
    const transfer::Progress progress([&] { return DescribeSync(sync.figures()); }, args.quiet);
    status = sync.Run();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Without an end of its own, a signal is how it ends.
  const bool has_end = args.sync.once || args.sync.until.has_value();
  if (status.code() == Code::kInterrupted && !has_end) status = Status();
  const SyncFigures figures = sync.figures();
  if (args.common.json) PrintSyncResult(figures, seconds, status);
  const std::string text = fmt::format(
      "{} epochs and {} transactions taken in, {} pivot switches (the deepest replaced {} epochs), {:.1f} s; at {}",
      figures.grown, figures.transactions, figures.switches, figures.deepest, seconds, Describe(figures.tip));
  if (!status.ok()) {
    return Status(status.code(), StrCat(status.message(), "\n", text, "\nRun it again to continue from there."));
  }
  transfer::PrintLine(text);
  return {};
}

void AddNodeOptions(CLI::App& app, ExplorerSyncArgs& args) {
  app.add_option("--node", args.url, "The node's JSON-RPC, as http://HOST:PORT/PATH or https://….")
      ->type_name("URL")
      ->required();
  app.add_option("--ca", args.ca_file, "Certificates to trust with https; by default those of the system.")
      ->type_name("FILE");
  app.add_option("--batch", args.source.rpc.batch_calls_max, "Calls in one request.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--timeout", args.timeout_s, "Seconds for one request.")
      ->check(CLI::Range(0.001, 3600.0))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--patience", args.patience_s,
                 "Seconds that a node may be unreachable, fail or contradict itself before the sync gives up.")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--receipts-after", args.source.receipts_after,
                 "Number of epochs after which the receipts of an epoch are fetched; 0: with the epoch itself, which "
                 "is then stored only once the node has executed it; -1: none.")
      ->check(CLI::Range(-1, 1000))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

Action SetUpSync(CLI::App& app) {
  const auto args = std::make_shared<ExplorerSyncArgs>();
  AddExplorerOptions(app, args->common);
  AddNodeOptions(app, *args);
  app.add_option("--from-epoch", args->sync.first_epoch, "The first epoch of an empty index.")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("EPOCH")
      ->capture_default_str();
  app.add_option("--until", args->until, "Ends when this epoch is stored.")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("EPOCH");
  app.add_flag("--once", args->sync.once, "Ends when everything that the node has is stored.");
  app.add_option("-j,--parallel", args->sync.parallel, "Epochs that are fetched at the same time.")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--depth-max", args->sync.depth_max, "A switch that replaces more epochs than this is not followed.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--poll", args->poll_ms, "Milliseconds between polls once everything is stored.")
      ->check(CLI::Range(1, 3'600'000))
      ->type_name("MS")
      ->capture_default_str();
  app.add_option("--history", args->common.options.history_epochs, "How many of the newest epochs can be popped.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--quiet", args->quiet, "No progress.");
  return [args] { return RunExplorerSync(*args); };
}

}  // namespace braid::cli::explorer
