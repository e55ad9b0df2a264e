// braid settlement generate: outputs to try things out with.
#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/lines.h"
#include "services/settlement/generator.h"

namespace braid::cli::settlement {
namespace {

struct GenerateArgs {
  uint64_t outputs = 1000;
  braid::settlement::GeneratorOptions generator;
};

std::string WhatIsTooMany(const GenerateArgs& args) {
  const int64_t most = braid::settlement::kOutputSeqMax - args.generator.first_sequence + 1;
  if (args.outputs <= static_cast<uint64_t>(most)) return "";
  return StrCat("from ", args.generator.first_sequence, " on there are only ", most, " numbers: --outputs ",
                args.outputs, " is too many");
}

Status RunGenerate(const GenerateArgs& args) {
  braid::settlement::Generator generator(args.generator);
  return transfer::WriteMadeUp(args.outputs, [&] { return ToJson(generator.Next()); });
}

}  // namespace

Action SetUpGenerate(CLI::App& app) {
  const auto args = std::make_shared<GenerateArgs>();
  braid::settlement::GeneratorOptions& generator = args->generator;
  const auto number = [&app](const char* name, auto& value, const char* help, int64_t least, int64_t most) {
    app.add_option(name, value, help)->check(CLI::Range(least, most))->type_name("N")->capture_default_str();
  };
  number("--outputs", args->outputs, "How many.", 0, INT64_MAX);
  number("--symbols", generator.symbols, "Symbols, numbered from 1.", 1, 1'000'000);
  number("--hot", generator.hot_percent, "Percent of the outputs that are of symbol 1, beside its even share.", 0, 100);
  number("--cross", generator.cross_percent, "Percent of those with trades whose trades are of two symbols.", 0, 100);
  number("--users", generator.users, "Users.", 2, 100'000'000);
  number("--first", generator.first_sequence, "The first output_seq.", 1, braid::settlement::kOutputSeqMax);
  app.add_option("--seed", generator.seed, "The same seed makes the same outputs.")
      ->type_name("N")
      ->capture_default_str();
  CheckUsage(app, [args] { return WhatIsTooMany(*args); });
  return [args] { return RunGenerate(*args); };
}

}  // namespace braid::cli::settlement
