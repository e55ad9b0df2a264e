// braid explorer import: epochs of files into the index. One thread parses ahead while this one stores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <span>

#include "base/strings.h"
#include "cli/explorer/common.h"
#include "cli/explorer/import.h"
#include "cli/patience.h"
#include "cli/transfer/progress.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::At;
using braid::explorer::Epoch;
using braid::explorer::Explorer;

struct ExplorerImportArgs {
  ExplorerCommon common;
  std::vector<std::string> files;
  bool quiet = false;
};

// Of all epochs that were taken in, those that were skipped included. Any thread.
struct ExplorerImportCounts {
  std::atomic<int64_t> epochs = 0;
  std::atomic<int64_t> grown = 0;
  std::atomic<int64_t> skipped = 0;
  std::atomic<int64_t> popped = 0;
  std::atomic<int64_t> blocks = 0;
  std::atomic<int64_t> transactions = 0;

  void Skip(const EpochsBefore& before) {
    epochs += before.epochs;
    skipped += before.epochs;
    blocks += before.blocks;
    transactions += before.transactions;
  }
  void Add(std::span<const Epoch> epochs_taken, const Explorer::Taken& taken) {
    epochs += taken.taken;
    grown += taken.grown;
    skipped += taken.skipped;
    popped += taken.popped;
    for (const Epoch& epoch : epochs_taken) {
      blocks += static_cast<int64_t>(epoch.blocks.size());
      transactions += static_cast<int64_t>(epoch.transaction_count());
    }
  }
};

class ImportClock {
 public:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string DescribeImport(const ExplorerImportCounts& counts, double seconds) {
  const int64_t transactions = counts.transactions;
  return fmt::format("{} epochs ({} new, {} there already, {} popped), {} blocks, {} transactions, {:.0f} per second",
                     counts.epochs.load(), counts.grown.load(), counts.skipped.load(), counts.popped.load(),
                     counts.blocks.load(), transactions,
                     seconds > 0 ? static_cast<double>(transactions) / seconds : 0.0);
}

struct ExplorerImportSummary {
  int64_t files = 0;  // taken in to their end
  double seconds = 0;
  At tip;
  Status status;
};

// Stores a batch. An error is about its first epoch that is not stored, and names its place.
Status TakeBatch(Explorer& explorer, const EpochReader::Batch& batch, const std::atomic<bool>& stop,
                 ExplorerImportCounts& counts, ExplorerImportSummary& summary) {
  std::span<const Epoch> rest(batch.epochs);
  while (!rest.empty() && !stop.load()) {
    const EpochPlace& place = batch.places[batch.epochs.size() - rest.size()];
    summary.files = place.files_before;
    const Result<Explorer::Taken> taken = explorer.Take(rest);
    if (!taken.ok()) {
      return Status(taken.error().code(), StrCat(place.ToString(), ": ", taken.error().message()));
    }
    const auto count = static_cast<size_t>(taken->taken);
    counts.Add(rest.first(count), *taken);
    rest = rest.subspan(count);
    summary.tip = taken->tip;
  }
  return {};
}

Status TakeAll(Explorer& explorer, EpochReader& reader, const std::atomic<bool>& stop, ExplorerImportCounts& counts,
               ExplorerImportSummary& summary) {
  while (!stop.load()) {
    Result<EpochReader::Batch> batch = reader.Next(stop);
    if (stop.load()) break;
    if (!batch.ok() || batch->epochs.empty()) {  // every epoch before the end, or before the error, is stored
      summary.files = reader.files_done();
      return batch.status();
    }
    BRAID_CHECK_OK(TakeBatch(explorer, *batch, stop, counts, summary));
  }
  return Status(Code::kInterrupted, "interrupted");
}

void PrintImportResult(const ExplorerImportCounts& counts, const ExplorerImportSummary& summary) {
  client::Bson json;
  json.Integer("files", summary.files)
      .Integer("epochs", counts.epochs)
      .Integer("grown", counts.grown)
      .Integer("skipped", counts.skipped)
      .Integer("popped", counts.popped)
      .Integer("blocks", counts.blocks)
      .Integer("transactions", counts.transactions)
      .Double("seconds", summary.seconds);
  AppendAt(summary.tip, json);
  AppendError(summary.status, json);
  client::PrintJson(json);
}

Status RunExplorerImport(ExplorerImportArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  args.common.options.stop = &stop;
  BRAID_TRY(const OpenedExplorer opened, OpenExplorer(args.common, StoreUse::kCreate));
  ExplorerImportSummary summary;
  BRAID_TRY(summary.tip, opened.explorer->Tip());
  const ImportClock clock;
  BRAID_TRY(const EpochsBefore before, EpochsThatLedTo(*opened.explorer, summary.tip, args.files, stop));
  ExplorerImportCounts counts;
  counts.Skip(before);
  EpochReader reader(args.files, before.epochs);
  {
    const transfer::Progress progress(
        [&] { return StrCat(reader.Position(), ": ", DescribeImport(counts, clock.Seconds())); }, args.quiet);
    summary.status = TakeAll(*opened.explorer, reader, stop, counts, summary);
  }
  summary.seconds = clock.Seconds();
  if (args.common.json) PrintImportResult(counts, summary);
  const std::string text = StrCat(DescribeImport(counts, summary.seconds),
                                  fmt::format(", in {:.1f} s; at ", summary.seconds), Describe(summary.tip));
  if (!summary.status.ok()) {
    return Status(summary.status.code(),
                  StrCat(summary.status.message(), "\n", text,
                         "\nRun it again with the same files to continue: stored epochs are skipped."));
  }
  transfer::PrintLine(text);
  return {};
}

}  // namespace

Action SetUpImport(CLI::App& app) {
  const auto args = std::make_shared<ExplorerImportArgs>();
  AddExplorerOptions(app, args->common);
  app.add_option("files", args->files,
                 "One epoch per line, packed with gzip or not; - is standard input. May be given again: an epoch that "
                 "is stored is skipped, and one with another pivot pops back to its predecessor first.")
      ->type_name("FILE")
      ->required();
  app.add_option("--history", args->common.options.history_epochs, "How many of the newest epochs can be popped.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--quiet", args->quiet, "No progress.");
  return [args] { return RunExplorerImport(*args); };
}

}  // namespace braid::cli::explorer
