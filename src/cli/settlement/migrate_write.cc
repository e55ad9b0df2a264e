// braid settlement migrate generate, write: an old table, and a writer as a service has one during a migration (C6).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/random.h"
#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/migrate.h"
#include "cli/transfer/lines.h"
#include "cli/transfer/progress.h"
#include "services/settlement/generator.h"
#include "services/settlement/migration/writer.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::Generator;
using braid::settlement::GeneratorOptions;
using braid::settlement::NameOf;
using braid::settlement::Output;
using braid::settlement::OutputParser;
using braid::settlement::migration::MigratingWriter;
using braid::settlement::migration::NameOf;
using braid::settlement::migration::Phase;
using braid::settlement::migration::State;
using braid::settlement::migration::StateStore;
using Steady = std::chrono::steady_clock;

double SecondsSince(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

struct WriteArgs {
  MigrateArgs migrate;
  GeneratorOptions generator;
  std::string file;
  uint64_t outputs = 0;  // 0: until interrupted
  uint32_t rate = 0;     // outputs per second; 0: no limit
  uint32_t batch = 100;
  bool acknowledge = false;
};

// The results of one writer.
struct WriteFigures {
  std::atomic<int64_t> outputs = 0;
  int64_t duplicates = 0;
  int64_t batches = 0;
  int64_t last_seq = 0;
  double slowest_ms = 0;
  int64_t ahead_most = 0;  // of one batch, as are the next two
  int64_t brought_in_most = 0;
  int64_t barriers_most = 0;
};

Status AddBatch(MigratingWriter& writer, std::vector<Output> outputs, const WriteArgs& args, WriteFigures& figures) {
  const auto count = static_cast<int64_t>(outputs.size());
  const auto start = Steady::now();
  BRAID_TRY(const MigratingWriter::Written written,
            args.file.empty() ? writer.AppendNext(std::move(outputs)) : writer.Append(outputs));
  figures.slowest_ms = std::max(figures.slowest_ms, 1000 * SecondsSince(start));
  figures.outputs += count;
  figures.duplicates += written.duplicates;
  figures.last_seq = written.last_seq;
  figures.ahead_most = std::max(figures.ahead_most, written.ahead);
  figures.brought_in_most = std::max(figures.brought_in_most, written.brought_in);
  figures.barriers_most = std::max(figures.barriers_most, written.barriers);
  ++figures.batches;
  if (!args.acknowledge) return {};
  std::printf("%lld %lld %s\n", static_cast<long long>(written.first_seq), static_cast<long long>(written.last_seq),
              std::string(NameOf(written.phase)).c_str());
  std::fflush(stdout);
  return {};
}

Status WriteGenerated(MigratingWriter& writer, const WriteArgs& args, const std::atomic<bool>& stop,
                      WriteFigures& figures) {
  Generator generator(args.generator);
  const auto start = Steady::now();
  for (uint64_t done = 0; !stop.load() && (args.outputs == 0 || done < args.outputs);) {
    std::vector<Output> outputs;
    while (outputs.size() < args.batch && (args.outputs == 0 || done < args.outputs)) {
      outputs.push_back(generator.Next());
      ++done;
    }
    BRAID_CHECK_OK(AddBatch(writer, std::move(outputs), args, figures));
    if (args.rate == 0) continue;
    const auto due = start + std::chrono::duration<double>(static_cast<double>(done) / args.rate);
    while (!stop.load() && Steady::now() < due) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {};
}

Status WriteOutputsOf(MigratingWriter& writer, const WriteArgs& args, const std::atomic<bool>& stop,
                      WriteFigures& figures) {
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(args.file));
  OutputParser parser;
  std::vector<Output> outputs;
  for (uint64_t number = 0; !stop.load();) {
    BRAID_TRY(const std::vector<std::string_view> next, lines->Next());
    for (const std::string_view line : next) {
      ++number;
      Result<Output> output = parser.Parse(line);
      if (!output.ok()) return output.error().CausedBy(StrCat(args.file, ", line ", number));
      outputs.push_back(*std::move(output));
      if (outputs.size() < args.batch) continue;
      BRAID_CHECK_OK(AddBatch(writer, std::exchange(outputs, {}), args, figures));
    }
    if (next.empty()) break;
  }
  return outputs.empty() ? Status() : AddBatch(writer, std::move(outputs), args, figures);
}

Status RunWrite(const WriteArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  BRAID_TRY(const auto options, ToOptions(args.migrate));
  const Patience patience(args.migrate.common.store, {.stop = &stop, .json = args.migrate.common.json});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.migrate.common.store));
  BRAID_TRY(const std::unique_ptr<MigratingWriter> writer, MigratingWriter::Open(*clients, options));
  WriteFigures figures;
  const auto start = Steady::now();
  {
    const transfer::Progress line([&] { return StrCat(figures.outputs.load(), " outputs written"); }, false);
    BRAID_CHECK_OK(args.file.empty() ? WriteGenerated(*writer, args, stop, figures)
                                     : WriteOutputsOf(*writer, args, stop, figures));
  }
  const double seconds = SecondsSince(start);
  const int64_t outputs = figures.outputs.load();
  if (args.migrate.common.json) {
    client::Bson json;
    json.Integer("outputs", outputs)
        .Integer("duplicates", figures.duplicates)
        .Integer("batches", figures.batches)
        .Integer("output_seq", figures.last_seq)
        .Double("seconds", seconds)
        .Double("slowest_batch_ms", figures.slowest_ms)
        .Integer("ahead_most", figures.ahead_most)
        .Integer("brought_in_most", figures.brought_in_most)
        .Integer("barriers_most", figures.barriers_most);
    client::PrintJson(json);
  }
  transfer::PrintLine(fmt::format("{} outputs in {:.1f} s, {:.0f}/s; the slowest batch took {:.0f} ms", outputs,
                                  seconds, seconds > 0 ? static_cast<double>(outputs) / seconds : 0,
                                  figures.slowest_ms));
  const bool endless = args.file.empty() && args.outputs == 0;
  if (stop.load() && !endless) return Status(Code::kInterrupted, "interrupted; all acknowledged outputs are stored");
  return {};
}

void AddGeneratorOptions(CLI::App& app, WriteArgs& args) {
  const auto number = [&app](const char* name, auto& value, const char* help, int64_t least, int64_t most) {
    app.add_option(name, value, help)->check(CLI::Range(least, most))->type_name("N")->capture_default_str();
  };
  number("--symbols", args.generator.symbols, "Symbols of generated outputs, numbered from 1.", 1, 1'000'000);
  number("--cross", args.generator.cross_percent, "Percent of those with trades whose trades are of two symbols.", 0,
         100);
  number("--commit", args.batch, "Outputs in one durable commit.", 1, 10'000);
}

}  // namespace

Action SetUpMigrateGenerate(CLI::App& app) {
  const auto args = std::make_shared<WriteArgs>();
  args->outputs = 10'000;
  AddMigrateOptions(app, args->migrate);
  AddGeneratorOptions(app, *args);
  app.add_option("--outputs", args->outputs, "How many.")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", args->generator.seed, "The same seed makes the same outputs.")
      ->type_name("N")
      ->capture_default_str();
  return [args]() -> Status {
    {
      BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args->migrate.common.store));
      BRAID_TRY(const auto options, ToOptions(args->migrate));
      BRAID_TRY(const std::unique_ptr<StateStore> store, StateStore::Open(*clients, options));
      BRAID_TRY(const State state, store->Load());
      if (state.phase != Phase::kNone) {
        return Status(Code::kIllegalOperation,
                      StrCat("the migration is in the phase ", NameOf(state.phase), " already"));
      }
    }
    return RunWrite(*args);
  };
}

Action SetUpMigrateWrite(CLI::App& app) {
  const auto args = std::make_shared<WriteArgs>();
  args->generator.seed = RandomSeed();
  AddMigrateOptions(app, args->migrate);
  AddGeneratorOptions(app, *args);
  CLI::Option* file = app.add_option("--file", args->file,
                                     "Outputs with sequences of their own, one per line; - is standard input. Without "
                                     "it they are generated, and get the next sequences.")
                          ->type_name("FILE");
  app.add_option("--outputs", args->outputs, "Number of outputs to generate; 0: until interrupted.")
      ->type_name("N")
      ->capture_default_str()
      ->excludes(file);
  app.add_option("--rate", args->rate, "Outputs to generate per second; 0: no limit.")
      ->type_name("N")
      ->capture_default_str()
      ->excludes(file);
  app.add_flag("--acknowledge", args->acknowledge,
               "Prints a line for each batch that is durable: its first and last sequence, and the phase.");
  return [args] { return RunWrite(*args); };
}

}  // namespace braid::cli::settlement
