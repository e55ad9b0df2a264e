// braid bench shop: a shopping mix, a flash sale beside the seed's own way of selling, and the catalogue as it grows.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/bench_shop_report.h"
#include "cli/interrupt.h"
#include "cli/store_option.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

struct BenchShopArgs {
  std::string store = "./data";
  std::string mix;
  bool json = false;
  std::vector<std::string> parts = {"mix", "sale", "catalogue"};
  bench::ShopBenchOptions options;
};

void AddShopSizes(CLI::App& app, bench::ShopBenchOptions& options) {
  app.add_option("--products", options.products, "Products of the mix.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--users", options.users, "Users of the mix; each belongs to one thread.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--stock", options.stock, "Units of each product of the mix.")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sale-units", options.sale_units, "Units of the one product of the flash sale.")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sale-buyers", options.sale_buyers, "Buyers of the flash sale, who want one unit each.")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--catalogue-sizes", options.catalogue_sizes, "Products of the catalogue; a reading for each.")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{1}, uint64_t{100'000'000}))
      ->type_name("LIST")
      ->capture_default_str();
}

void AddBenchShopOptions(CLI::App& app, BenchShopArgs& args) {
  bench::ShopBenchOptions& options = args.options;
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", options.database, "Database. It is dropped before and after each run.")
      ->type_name("NAME")
      ->capture_default_str();
  AddShopSizes(app, options);
  app.add_option("--threads", options.threads,
                 "Threads with a connection each; the mix is run for each of the list, the sale with the most.")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long the mix runs, and at most each reading of the catalogue.")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--mix", args.mix,
                 "Weights of the operations; those left out do not occur. By default "
                 "browse=40,card=25,cart=20,merge=3,checkout=7,history=5.")
      ->type_name("NAME=N,…");
  app.add_option("--parts", args.parts, "What is measured.")
      ->delimiter(',')
      ->check(CLI::IsMember(args.parts))
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed makes the same shoppers.")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output; the tables go to standard error.");
}

Status RunBenchShop(BenchShopArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  bench::ShopBenchOptions& options = args.options;
  options.stop = &stop;
  const auto wanted = [&](const char* part) { return std::ranges::find(args.parts, part) != args.parts.end(); };
  options.run_mix = wanted("mix");
  options.run_sale = wanted("sale");
  options.run_catalogue = wanted("catalogue");
  if (!args.mix.empty()) {
    BRAID_TRY(options.mix, bench::ParseShopMix(args.mix));
  }
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  FILE* people = args.json ? stderr : stdout;
  BRAID_TRY(const bench::ShopReport report, RunShop(*clients, options, ShopTables(people)));
  std::fputs("Verified after each run of the service: no stock is negative, sold and left are what was there.\n",
             people);
  if (args.json) std::printf("%s\n", ShopJson(options, report).c_str());
  return stop.load() ? Status(Code::kInterrupted, "interrupted; the figures so far are above") : Status();
}

}  // namespace

Action SetUpBenchShop(CLI::App& app) {
  const auto args = std::make_shared<BenchShopArgs>();
  AddBenchShopOptions(app, *args);
  return [args] { return RunBenchShop(*args); };
}

}  // namespace braid::cli
