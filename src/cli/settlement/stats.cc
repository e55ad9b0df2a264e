// braid settlement stats: each symbol's chain as it is now, and how far the views are.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/strings.h"
#include "braid/clock.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "patterns/chains/hash.h"
#include "services/settlement/json.h"
#include "services/settlement/views/follower.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::ViewProgress;
using Leases = std::vector<LeaseInfo>;

struct Found {
  std::vector<ChainHead> heads;
  Leases leases;
  std::vector<ViewProgress> views;
  braid::settlement::RefusedNow refused;
};

struct Sums {
  int64_t records = 0;
  int64_t halted = 0;
  int64_t newest = 0;
};

Sums SumsOf(const std::vector<ChainHead>& heads) {
  Sums sums;
  for (const ChainHead& head : heads) {
    sums.records += head.records;
    sums.halted += head.halted.empty() ? 0 : 1;
    sums.newest = std::max(sums.newest, head.sequence);
  }
  return sums;
}

void PrintStatsJson(const Found& found) {
  client::Bson json;
  braid::settlement::AppendHeads(found.heads, found.leases, found.refused, json);
  AppendTo(json, found.views);
  client::PrintJson(json);
}

std::string LeaseOf(const Leases& leases, int64_t chain) {
  const auto lease = std::ranges::find(leases, chain, &LeaseInfo::chain);
  if (lease == leases.end()) return "-";
  const int64_t left_ms = lease->expires_at_ms - Clock::System().NowMillis();
  return left_ms > 0 ? StrCat(lease->owner, ", for ", left_ms / 1000, " s") : std::string("free");
}

void PrintStats(const Found& found) {
  std::printf("%10s  %12s  %14s  %-16s  %s\n", "symbol", "records", "newest output", "hash", "lease");
  for (const ChainHead& head : found.heads) {
    std::printf("%10lld  %12lld  %14lld  %.16s  %s\n", static_cast<long long>(head.chain),
                static_cast<long long>(head.records), static_cast<long long>(head.sequence),
                chains::HexOf(head.hash).c_str(), LeaseOf(found.leases, head.chain).c_str());
    if (!head.halted.empty()) {
      std::printf("%10s  %s: %s\n", "", head.broken ? "halted, has to be repaired" : "waits", head.halted.c_str());
    }
  }
  const Sums sums = SumsOf(found.heads);
  std::printf("%zu symbols, %lld of them halted; %lld records; %lld refused outputs are kept\n", found.heads.size(),
              static_cast<long long>(sums.halted), static_cast<long long>(sums.records),
              static_cast<long long>(found.refused.kept));
  for (const braid::settlement::UnplacedLine& line : found.refused.unplaced) {
    std::printf("%s\n", line.WhyHeldBack().c_str());
  }
  for (const ViewProgress& view : found.views) std::printf("%s\n", Describe(view).c_str());
}

Status RunStats(Common& common) {
  const Patience patience(common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(*clients, common));
  Found found;
  BRAID_TRY(found.heads, chains->Heads());
  BRAID_TRY(found.leases, chains->Leases());
  BRAID_TRY(found.views, braid::settlement::ReadProgress(*clients, common.options.database, found.heads));
  BRAID_TRY(found.refused, braid::settlement::ReadRefused(*clients, common.options.ToChains()));
  common.json ? PrintStatsJson(found) : PrintStats(found);
  return {};
}

}  // namespace

Action SetUpStats(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  AddCommonOptions(app, *common);
  return [common] { return RunStats(*common); };
}

}  // namespace braid::cli::settlement
