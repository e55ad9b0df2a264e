// braid staking generate: events to try things out with.
#include <CLI/CLI.hpp>

#include "cli/staking/actions.h"
#include "cli/transfer/lines.h"
#include "services/staking/generator.h"

namespace braid::cli::staking {
namespace {

struct GenerateArgs {
  uint64_t events = 1000;
  braid::staking::GeneratorOptions generator;
};

Status RunGenerate(const GenerateArgs& args) {
  braid::staking::Generator generator(args.generator);
  return transfer::WriteMadeUp(args.events, [&] { return ToJson(generator.Next()); });
}

}  // namespace

Action SetUpGenerate(CLI::App& app) {
  const auto args = std::make_shared<GenerateArgs>();
  braid::staking::GeneratorOptions& generator = args->generator;
  app.add_option("--events", args->events, "How many.")->type_name("N")->capture_default_str();
  app.add_option("--seed", generator.seed, "The same seed makes the same events.")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--duplicates", generator.duplicate_percent, "Percent that repeat an earlier event.")
      ->check(CLI::Range(0, 90))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--unbonded", generator.unbonded_percent, "Percent of the new ones that unbond.")
      ->check(CLI::Range(0, 50))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--early", generator.early_percent, "Percent of the unbonded that come before their active.")
      ->check(CLI::Range(0, 100))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--stakers", generator.stakers, "Stakers.")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--finality-providers", generator.finality_providers, "Finality providers.")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  return [args] { return RunGenerate(*args); };
}

}  // namespace braid::cli::staking
