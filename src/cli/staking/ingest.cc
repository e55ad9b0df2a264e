// braid staking ingest: events from files, standard input or a queue into the statistics.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/files_read.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/staking/actions.h"
#include "cli/transfer/lines.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"
#include "services/staking/consume.h"
#include "services/staking/json.h"

namespace braid::cli::staking {
namespace {

using braid::staking::BadMessage;
using braid::staking::IngestOptions;
using braid::staking::Ingestor;
using braid::staking::Outcome;

struct IngestArgs {
  Common common;
  std::vector<std::string> files = {"-"};
  std::string queue;
  std::string queue_name = "staking_events";
  uint32_t prefetch = 20'000;
  double idle_exit_seconds = 0;
  size_t workers = 2;
  size_t batch = 5000;
  bool quiet = false;
};

void AddIngestOptions(CLI::App& app, IngestArgs& args) {
  AddCommonOptions(app, args.common);
  CLI::Option* files = app.add_option("files", args.files,
                                      "Files with one event per line, packed with gzip or zstd or not; - is "
                                      "standard input.")
                           ->type_name("FILE")
                           ->capture_default_str();
  CLI::Option* queue =
      app.add_option("--queue", args.queue,
                     "A RabbitMQ broker, as amqp://USER:PASSWORD@HOST:PORT/VHOST, to take events from until SIGINT or "
                     "SIGTERM. A message is acknowledged once its effect is on disk.")
          ->check(CheckBroker)
          ->type_name("URI")
          ->excludes(files);
  app.add_option("--queue-name", args.queue_name, "The queue; created, durable, if it does not exist.")
      ->type_name("NAME")
      ->needs(queue)
      ->capture_default_str();
  app.add_option("--prefetch", args.prefetch, "Messages that the broker sends ahead of their acknowledgement.")
      ->check(CLI::Range(1, 65'535))
      ->type_name("N")
      ->needs(queue)
      ->capture_default_str();
  app.add_option("--idle-exit", args.idle_exit_seconds, "Ends when no message came for this many seconds.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->needs(queue);
  app.add_option("-j,--workers", args.workers, "Concurrent transactions, each with a logical shard of its own.")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--batch", args.batch, "The most events in one transaction.")
      ->check(CLI::Range(1, 20'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--quiet", args.quiet, "No progress.");
}

std::string Describe(const Outcome& outcome) {
  const std::string conflicting = outcome.conflicting == 0 ? "" : StrCat(", ", outcome.conflicting, " conflicting");
  return StrCat(outcome.accepted, " accepted, ", outcome.duplicate, " duplicate, ", outcome.parked, " parked, ",
                outcome.rejected, " rejected", conflicting);
}

void PrintJson(const Outcome& outcome, const Ingestor& ingestor, double seconds) {
  client::Bson json;
  AppendOutcome(outcome, json);
  json.Integer("retries", static_cast<int64_t>(ingestor.retries()))
      .Integer("milliseconds", static_cast<int64_t>(seconds * 1000));
  client::PrintJson(json);
}

// Figures for the progress line, from another thread.
struct Progress {
  explicit Progress(const std::vector<std::string>& files) : read(files) {}

  FilesRead read;
  Outcome Taken() {
    const MutexLock lock(mu);
    return outcome;
  }

  Mutex mu;
  Outcome outcome BRAID_GUARDED_BY(mu);
};

std::string Describe(Progress& progress, Pace& pace) {
  const Outcome outcome = progress.Taken();
  const uint64_t done = outcome.accepted + outcome.duplicate + outcome.parked + outcome.rejected + outcome.conflicting;
  return StrCat(Describe(outcome), "; ", pace.ToString(static_cast<int64_t>(done), progress.read.share()));
}

Status IngestFile(Ingestor& ingestor, const std::string& path, const std::atomic<bool>& stop, Progress& progress) {
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(path));
  const FilesRead::One reading(progress.read, path, *lines);
  while (!stop.load()) {
    BRAID_TRY(const std::vector<std::string_view> next, lines->Next());
    if (next.empty()) break;
    BRAID_TRY(const Outcome outcome,
              ingestor.Apply(next, {.file = path == "-" ? "standard input" : path, .numbers = lines->numbers()}));
    const MutexLock lock(progress.mu);
    progress.outcome += outcome;
  }
  return {};
}

Status IngestQueue(Ingestor& ingestor, const IngestArgs& args, const std::atomic<bool>& stop, Progress& progress) {
  BRAID_TRY(queue::Address address, queue::ParseAddress(args.queue));
  BRAID_TRY(
      const std::unique_ptr<queue::Consumer> consumer,
      queue::Consumer::Connect({.address = std::move(address), .queue = args.queue_name, .prefetch = args.prefetch}));
  braid::staking::ConsumeOptions options;
  options.batch_messages_max = std::min<size_t>(args.workers * args.batch, std::max<uint32_t>(1, args.prefetch / 2));
  options.idle_exit = std::chrono::milliseconds(static_cast<int64_t>(args.idle_exit_seconds * 1000));
  options.stop = &stop;
  options.on_batch = [&](const Outcome& outcome) {
    const MutexLock lock(progress.mu);
    progress.outcome += outcome;
  };
  return Consume(*consumer, ingestor, options);
}

Status IngestFiles(Ingestor& ingestor, const IngestArgs& args, const std::atomic<bool>& stop, Progress& progress) {
  for (const std::string& file : args.files) BRAID_CHECK_OK(IngestFile(ingestor, file, stop, progress));
  return {};
}

// Prints the first line of each kind that was kept, and the reason; all of them are in the store.
void ShowKept(const BadMessage& message, Reasons& reasons) {
  if (!reasons.Add(message.reason)) return;
  const std::string where = message.file.empty() ? "a message" : StrCat(message.file, ", line ", message.line);
  transfer::PrintLine(StrCat(where, ": ", message.reason));
}

// What was refused makes the exit code 1, although everything else was taken in.
Status Refusals(const Outcome& outcome, const std::string& database) {
  if (outcome.rejected + outcome.conflicting == 0) return {};
  std::string message;
  if (outcome.rejected > 0) {
    message = StrCat(outcome.rejected, " rejected: they are in ", database, ".unprocessable_messages, with the reason");
  }
  if (outcome.conflicting > 0) {
    message += StrCat(message.empty() ? "" : "\n", outcome.conflicting,
                      " conflicting: the hash is known with other contents, which stay; they are in ", database,
                      ".conflicting_events, with the reason");
  }
  return Status(Code::kOperationFailed, message);
}

Status RunIngest(IngestArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(args.common.store, {.stop = &stop, .json = args.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.common.store));
  IngestOptions options{.tables = args.common.options, .workers = args.workers, .batch_events_max = args.batch};
  options.stop = &stop;
  Reasons reasons;
  options.on_kept = [&](const BadMessage& message) { ShowKept(message, reasons); };
  BRAID_TRY(const std::unique_ptr<Ingestor> ingestor, Ingestor::Open(*clients, options));
  const auto start = std::chrono::steady_clock::now();
  Progress progress(args.queue.empty() ? args.files : std::vector<std::string>{"-"});
  Pace pace;
  Status status;
  {
    const transfer::Progress line([&] { return Describe(progress, pace); }, args.quiet);
    status = args.queue.empty() ? IngestFiles(*ingestor, args, stop, progress)
                                : IngestQueue(*ingestor, args, stop, progress);
    // The rankings are correct without it: an interrupt does not wait for them.
    if (status.ok() && !stop.load()) status = ingestor->UpdateRankings();
  }
  for (const std::string& line : reasons.Repeated()) transfer::PrintLine(line);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const Outcome outcome = progress.Taken();
  if (args.common.json) PrintJson(outcome, *ingestor, seconds.count());
  const std::string summary = StrCat(Describe(outcome), " in ", fmt::format("{:.1f}", seconds.count()), " s");
  if (!status.ok()) {
    return Status(status.code(), StrCat(status.message(), "\n", summary,
                                        "\nRun it again with the same events: none is counted twice."));
  }
  if (stop.load() && args.queue.empty()) return Status(Code::kInterrupted, StrCat("interrupted\n", summary));
  transfer::PrintLine(summary);
  return Refusals(outcome, args.common.options.database);
}

}  // namespace

Action SetUpIngest(CLI::App& app) {
  const auto args = std::make_shared<IngestArgs>();
  AddIngestOptions(app, *args);
  return [args] { return RunIngest(*args); };
}

}  // namespace braid::cli::staking
