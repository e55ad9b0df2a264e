// braid shards: help with sharding. advise rates shard keys for a collection.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/advise/advice.h"
#include "cli/advise/rating.h"
#include "cli/advise/source.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "cli/transfer/progress.h"
#include "engine/bson/json.h"

namespace braid::cli {
namespace {

struct ShardsArgs {
  std::string store = "./data";
  advise::Place place{"test", ""};
  std::string sample_file;
  std::string queries;
  std::vector<std::string> candidates;
  size_t sample = 10'000;
  size_t shards = 4;
  advise::Recording recording;
  bool store_given = false;
  bool json = false;
  bool quiet = false;
};

void AddShardsOptions(CLI::App& app, ShardsArgs& args) {
  AddStoreOption(app, args.store);
  AddNamespaceOptions(app, args.place.database, args.place.collection);
  app.add_option("--sample", args.sample, "Documents to sample, chosen at random.")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sample-file", args.sample_file,
                 "Takes the documents from a file of JSON, packed with gzip or not, instead of from the collection. No "
                 "server is needed then.")
      ->type_name("FILE");
  CLI::Option* queries = app.add_option("--queries", args.queries,
                                        "Operations, one per line: {\"find\": \"orders\", \"filter\": {\"user_id\": "
                                        "\"U1\"}, \"weight\": 120}. By default those that the server has recorded.")
                             ->type_name("FILE");
  app.add_option("--record", args.recording.seconds, "First makes the server record operations for this time.")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS")
      ->excludes(queries);
  app.add_option("--samples-per-second", args.recording.samples_per_second,
                 "Operations to record per second, at most 50.")
      ->check(CLI::PositiveNumber & CLI::Range(50.0))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--candidate", args.candidates,
                 "A shard key to rate, such as '{\"user_id\": \"hashed\"}'; may be given more than once. By default "
                 "keys are found in the operations and documents.")
      ->type_name("KEY")
      ->allow_extra_args(false);
  app.add_option("--shards", args.shards, "Shards to spread over.")
      ->check(CLI::Range(2, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output instead of the table.");
  app.add_flag("--quiet", args.quiet, "No progress.");
}

Result<std::vector<advise::ShardKey>> ParseCandidates(const std::vector<std::string>& texts) {
  std::vector<advise::ShardKey> keys;
  for (const std::string& text : texts) {
    const auto parsed = bson::FromJson(text);
    if (!parsed.ok()) {
      return Status(Code::kBadValue, StrCat("--candidate ", text, ": ", parsed.error().message(),
                                            "; write it as '{\"user_id\": \"hashed\"}' or '{\"a\": 1, \"b\": 1}'"));
    }
    auto key = advise::ShardKey::Parse(*parsed);
    if (!key.ok()) return Status(key.error().code(), StrCat("--candidate ", text, ": ", key.error().message()));
    if (std::find(keys.begin(), keys.end(), *key) == keys.end()) keys.push_back(*std::move(key));
  }
  return keys;
}

struct Inputs {
  advise::Sample sample;
  std::vector<advise::Operation> operations;
};

// The operations of a server. A server that cannot record them is an error only if recording was asked for.
Status ReadFromServer(const ShardsArgs& args, Clients& clients, const std::atomic<bool>& stop, advise::Advice& advice,
                      Inputs& inputs) {
  if (args.recording.seconds > 0) {
    const auto started = std::chrono::steady_clock::now();
    const transfer::Progress progress(
        [&] {
          const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started;
          return StrCat("recording operations on ", args.place.database, ".", args.place.collection, ": ",
                        static_cast<int64_t>(passed.count()), " of ", args.recording.seconds,
                        " s; Ctrl-C continues with what was recorded so far");
        },
        args.quiet);
    BRAID_CHECK_OK(advise::Record(clients, args.place, args.recording, stop));
  }
  auto recorded = advise::FetchOperations(clients, args.place);
  const bool cannot = !recorded.ok() && recorded.error().code() == Code::kCommandNotSupported;
  if (cannot && args.recording.seconds == 0) {
    if (!args.quiet) transfer::PrintLine(std::string(recorded.error().message()));
    return {};
  }
  BRAID_CHECK_OK(recorded);
  inputs.operations = *std::move(recorded);
  if (!inputs.operations.empty()) advice.operations_from = "server";
  return {};
}

Status ReadServer(ShardsArgs& args, advise::Advice& advice, Inputs& inputs) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.store, StoreUse::kRead));
  if (args.sample_file.empty()) {
    advice.documents_from = "collection";
    const transfer::Progress progress(
        [&] { return StrCat("reading documents of ", args.place.database, ".", args.place.collection); }, args.quiet);
    BRAID_TRY(inputs.sample, advise::FetchSample(*clients, args.place, args.sample, stop));
  }
  if (!inputs.sample.documents.empty() || !args.sample_file.empty()) {
    BRAID_TRY(advice.unique_indexes, advise::FetchUniqueIndexes(*clients, args.place));
  }
  if (!args.queries.empty()) return {};
  return ReadFromServer(args, *clients, stop, advice, inputs);
}

Status ReadFiles(ShardsArgs& args, advise::Advice& advice, Inputs& inputs) {
  if (!args.queries.empty()) {
    BRAID_TRY(advise::ListedOperations listed, advise::ReadOperations(args.queries, args.place.collection));
    inputs.operations = std::move(listed.operations);
    advice.skipped = listed.skipped;
    if (!inputs.operations.empty()) advice.operations_from = "file";
    args.place.collection = listed.collection;
  }
  if (!args.sample_file.empty()) {
    advice.documents_from = "file";
    BRAID_TRY(inputs.sample, advise::ReadSample(args.sample_file, args.sample, StopOnInterrupt()));
  }
  return {};
}

Status CheckOptions(const ShardsArgs& args) {
  const bool needs_server = args.sample_file.empty() || args.recording.seconds > 0;
  if (needs_server && args.place.collection.empty() && args.queries.empty()) {
    return Status(Code::kBadValue,
                  "say which collection: --collection NAME, or give its documents with --sample-file FILE");
  }
  if (args.recording.seconds > 0 && !IsUri(args.store)) {
    return Status(Code::kBadValue,
                  "--record is for a server that others are using: give its address, such as --store "
                  "mongodb://127.0.0.1:27017");
  }
  return {};
}

// The files are read first: a mistake in them is reported before a server is contacted, and they may name the
// collection.
Status Read(ShardsArgs& args, advise::Advice& advice, Inputs& inputs) {
  BRAID_CHECK_OK(CheckOptions(args));
  advice.operations_from = "none";
  BRAID_CHECK_OK(ReadFiles(args, advice, inputs));
  const bool asks_server = args.sample_file.empty() || (args.queries.empty() && args.store_given);
  if (asks_server && args.place.collection.empty()) {
    return Status(Code::kBadValue, "say which collection: --collection NAME");
  }
  if (asks_server) BRAID_CHECK_OK(ReadServer(args, advice, inputs));
  if (!inputs.sample.documents.empty()) return {};
  if (!args.sample_file.empty()) return Status(Code::kBadValue, StrCat(args.sample_file, " has no documents"));
  return Status(Code::kBadValue,
                StrCat("there are no documents in ", args.place.database, ".", args.place.collection, " of ",
                       args.store, ": check --store, --db and --collection, or give a file with --sample-file"));
}

Status Advise(ShardsArgs& args) {
  BRAID_TRY(std::vector<advise::ShardKey> keys, ParseCandidates(args.candidates));
  advise::Advice advice;
  Inputs inputs;
  BRAID_CHECK_OK(Read(args, advice, inputs));
  advice.database = args.place.database;
  advice.collection = args.place.collection.empty() ? "collection" : args.place.collection;
  advice.shards = args.shards;
  advice.sampled = inputs.sample.documents.size();
  advice.total = inputs.sample.total;
  advice.operations = inputs.operations.size();
  const auto workload = advise::Workload::Of(std::move(inputs.operations));
  advice.weight = workload.weight();
  const auto order = advise::FindInsertionOrder(inputs.sample);
  if (order) advice.insertion_order = order->by;
  if (keys.empty()) keys = advise::FindCandidates(inputs.sample, workload, args.shards);
  advice.ratings = advise::RateAll(inputs.sample, order ? &*order : nullptr, workload, keys, args.shards);
  std::printf("%s\n", (args.json ? advise::ToJson(advice) : advise::ToText(advice)).c_str());
  return {};
}

}  // namespace

Action SetUpShards(CLI::App& app) {
  const auto args = std::make_shared<ShardsArgs>();
  app.require_subcommand(1);
  CLI::App* advise =
      app.add_subcommand("advise",
                         "Rates shard keys for a collection by the three properties of a good one "
                         "(distinct values, evenness of writes, targeted operations) and recommends one.");
  AddShardsOptions(*advise, *args);
  return [args, advise] {
    args->store_given = advise->count("--store") > 0;
    return Advise(*args);
  };
}

}  // namespace braid::cli
