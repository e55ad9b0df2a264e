// braid settlement migrate follow: a reader as a service has one during a migration, which sees that none is missing
// (C6).
#include <CLI/CLI.hpp>
#include <chrono>
#include <thread>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/migrate.h"
#include "cli/transfer/progress.h"
#include "services/settlement/migration/reader.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::Output;
using braid::settlement::migration::MigratingReader;

struct MigrateFollowArgs {
  MigrateArgs migrate;
  int64_t from = 1;
  bool once = false;
};

struct Seen {
  std::atomic<int64_t> outputs = 0;
  int64_t last = 0;
  int64_t gaps = 0;
};

Status See(const Output& output, Seen& seen) {
  if (output.output_seq != seen.last + 1) {
    ++seen.gaps;
    transfer::PrintLine(StrCat("output ", output.output_seq, " after ", seen.last));
  }
  seen.last = output.output_seq;
  ++seen.outputs;
  return {};
}

Status RunMigrateFollow(const MigrateFollowArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  BRAID_TRY(const auto options, ToOptions(args.migrate));
  const Patience patience(args.migrate.common.store, {.stop = &stop, .json = args.migrate.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.migrate.common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<MigratingReader> reader, MigratingReader::Open(*clients, options));
  Seen seen;
  seen.last = args.from - 1;
  {
    const transfer::Progress line([&] { return StrCat(seen.outputs.load(), " outputs read"); }, false);
    do {
      const int64_t before = seen.last;
      BRAID_CHECK_OK(reader->Read(before + 1, [&](const Output& output) { return See(output, seen); }));
      if (!args.once && seen.last == before) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (!args.once && !stop.load());
  }
  if (args.migrate.common.json) {
    client::Bson json;
    json.Bool("ok", seen.gaps == 0)
        .Integer("outputs", seen.outputs.load())
        .Integer("output_seq", seen.last)
        .Integer("gaps", seen.gaps);
    client::PrintJson(json);
  }
  transfer::PrintLine(StrCat(seen.outputs.load(), " outputs up to ", seen.last, ", ", seen.gaps, " gaps"));
  return seen.gaps == 0 ? Status() : Status(Code::kOperationFailed, StrCat(seen.gaps, " gaps"));
}

}  // namespace

Action SetUpMigrateFollow(CLI::App& app) {
  const auto args = std::make_shared<MigrateFollowArgs>();
  AddMigrateOptions(app, args->migrate);
  app.add_option("--from", args->from, "The first output_seq to expect.")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("SEQ")
      ->capture_default_str();
  app.add_flag("--once", args->once, "Ends at the newest output instead of waiting for more.");
  return [args] { return RunMigrateFollow(*args); };
}

}  // namespace braid::cli::settlement
