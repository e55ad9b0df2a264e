// braid staking publish: lines of a file as durable messages of a queue, each confirmed by the broker.
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/patience.h"
#include "cli/staking/actions.h"
#include "cli/transfer/lines.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"
#include "services/queue/publisher.h"

namespace braid::cli::staking {
namespace {

struct PublishArgs {
  std::string file = "-";
  std::string queue;
  std::string queue_name = "staking_events";
  bool json = false;
};

Status RunPublish(const PublishArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  BRAID_TRY(queue::Address address, queue::ParseAddress(args.queue));
  BRAID_TRY(const auto publisher, queue::Publisher::Connect({.address = std::move(address), .queue = args.queue_name}));
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(args.file));
  std::atomic<uint64_t> published = 0;
  Status status;
  {
    const transfer::Progress progress([&] { return StrCat(published.load(), " messages confirmed"); }, false);
    while (status.ok() && !stop.load()) {
      BRAID_TRY(const std::vector<std::string_view> next, lines->Next());
      if (next.empty()) break;
      const std::vector<std::string> bodies(next.begin(), next.end());
      const queue::Publisher::Outcome outcome = publisher->Publish(bodies);
      published += outcome.confirmed;
      status = outcome.status;
    }
  }
  if (args.json) {
    client::Bson json;
    json.Bool("ok", status.ok() && !stop.load()).Integer("confirmed", static_cast<int64_t>(published.load()));
    client::PrintJson(json);
  }
  const std::string summary = StrCat(published.load(), " messages confirmed by the broker");
  if (!status.ok()) return Status(status.code(), StrCat(status.message(), "\n", summary));
  if (stop.load()) return Status(Code::kInterrupted, StrCat("interrupted\n", summary));
  transfer::PrintLine(summary);
  return {};
}

}  // namespace

Action SetUpPublish(CLI::App& app) {
  const auto args = std::make_shared<PublishArgs>();
  app.add_option("file", args->file, "File to read, packed with gzip or zstd or not; - is standard input.")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--queue", args->queue, "The broker, as amqp://USER:PASSWORD@HOST:PORT/VHOST.")
      ->check(CheckBroker)
      ->type_name("URI")
      ->required();
  app.add_option("--queue-name", args->queue_name, "The queue; created, durable, if it does not exist.")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--json", args->json, "One JSON object on standard output; everything else goes to standard error.");
  return [args] { return RunPublish(*args); };
}

}  // namespace braid::cli::staking
