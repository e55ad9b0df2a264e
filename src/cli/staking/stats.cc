// braid staking stats: totals and rankings (A8).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/staking/actions.h"
#include "client/handles.h"
#include "services/staking/json.h"
#include "services/staking/queries.h"

namespace braid::cli::staking {
namespace {

using braid::staking::kActiveDelegations;
using braid::staking::kActiveTvl;
using braid::staking::kTotalDelegations;
using braid::staking::kTotalStakers;
using braid::staking::kTotalTvl;
using braid::staking::Overall;
using braid::staking::Page;
using braid::staking::Ranked;
using braid::staking::Tables;

struct StatsArgs {
  Common common;
  std::string provider;
  std::string staker;
  std::string rank;
  size_t limit = 20;
  std::string after;
};

void AddStatsOptions(CLI::App& app, StatsArgs& args) {
  AddCommonOptions(app, args.common);
  CLI::Option* provider =
      app.add_option("--finality-provider", args.provider, "Of this finality provider, by its public key.")
          ->check(CheckKey)
          ->type_name("HEX");
  CLI::Option* staker = app.add_option("--staker", args.staker, "Of this staker, by its public key.")
                            ->check(CheckKey)
                            ->type_name("HEX")
                            ->excludes(provider);
  CLI::Option* rank =
      app.add_option("--rank", args.rank, "finality-providers or stakers, by active_tvl, highest first.")
          ->check(CLI::IsMember({"finality-providers", "stakers"}))
          ->excludes(provider)
          ->excludes(staker);
  app.add_option("--limit", args.limit, "Rows of a page.")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->needs(rank)
      ->capture_default_str();
  app.add_option("--after", args.after, "Where the page before ended: its `next`.")
      ->check([](const std::string& text) { return std::string(braid::staking::CheckRankCursor(text).message()); })
      ->type_name("NEXT")
      ->needs(rank);
}

void PrintSums(const CounterValues& sums) {
  std::printf("active_tvl          %s\n", Bitcoin(sums[kActiveTvl]).c_str());
  std::printf("total_tvl           %s\n", Bitcoin(sums[kTotalTvl]).c_str());
  std::printf("active_delegations  %lld\n", static_cast<long long>(sums[kActiveDelegations]));
  std::printf("total_delegations   %lld\n", static_cast<long long>(sums[kTotalDelegations]));
}

Status ShowOverall(Clients& clients, const Tables& tables, bool json) {
  BRAID_TRY(const Overall overall, GetOverallStats(clients, tables));
  if (json) {
    client::Bson out;
    AppendOverall(tables, overall, out);
    client::PrintJson(out);
    return {};
  }
  PrintSums(overall.sums);
  std::printf("total_stakers       %lld\n", static_cast<long long>(overall.sums[kTotalStakers]));
  std::printf("pending_events      %lld\n", static_cast<long long>(overall.pending_events));
  std::printf("unprocessable       %lld\n", static_cast<long long>(overall.unprocessable_messages));
  std::printf("conflicting         %lld\n", static_cast<long long>(overall.conflicting_events));
  std::printf("logical shards      %u (documents read for this)\n", tables.overall->shard_count());
  return {};
}

Status ShowEntity(Clients& clients, const Tables& tables, const Counters& set, const std::string& key, bool json) {
  BRAID_TRY(const CounterValues sums, GetStats(clients, tables, set, key));
  if (json) {
    client::Bson out;
    AppendEntity(tables, set, key, sums, out);
    client::PrintJson(out);
    return {};
  }
  PrintSums(sums);
  return {};
}

Status ShowRanking(Clients& clients, const Tables& tables, const StatsArgs& args) {
  const bool stakers = args.rank == "stakers";
  const Counters& set = stakers ? *tables.stakers : *tables.providers;
  BRAID_TRY(const Page page, Rank(clients, tables, set, args.limit, args.after));
  if (args.common.json) {
    client::Bson out;
    AppendRanking(tables, set, page, out);
    client::PrintJson(out);
    return {};
  }
  std::printf("%-66s  %24s  %24s  %8s  %8s\n", stakers ? "staker" : "finality provider", "active_tvl", "total_tvl",
              "active", "total");
  for (const Ranked& row : page.rows) {
    std::printf("%-66s  %24s  %24s  %8lld  %8lld\n", row.entity.c_str(), Bitcoin(row.sums[kActiveTvl]).c_str(),
                Bitcoin(row.sums[kTotalTvl]).c_str(), static_cast<long long>(row.sums[kActiveDelegations]),
                static_cast<long long>(row.sums[kTotalDelegations]));
  }
  if (!page.next.empty()) std::printf("next page: --after %s\n", page.next.c_str());
  return {};
}

Status RunStats(StatsArgs& args) {
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Tables> tables, Tables::OpenToRead(*clients, args.common.options));
  if (!args.provider.empty()) return ShowEntity(*clients, *tables, *tables->providers, args.provider, args.common.json);
  if (!args.staker.empty()) return ShowEntity(*clients, *tables, *tables->stakers, args.staker, args.common.json);
  if (!args.rank.empty()) return ShowRanking(*clients, *tables, args);
  return ShowOverall(*clients, *tables, args.common.json);
}

}  // namespace

Action SetUpStats(CLI::App& app) {
  const auto args = std::make_shared<StatsArgs>();
  AddStatsOptions(app, *args);
  return [args] { return RunStats(*args); };
}

}  // namespace braid::cli::staking
