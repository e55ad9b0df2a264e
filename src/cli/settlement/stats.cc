// braid settlement stats: each symbol's chain as it is now, and how far the views are.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/settlement/follow.h"
#include "cli/store_option.h"
#include "patterns/chains/hash.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::ViewProgress;
using Leases = std::map<int64_t, LeaseInfo>;

struct Found {
  std::vector<ChainHead> heads;
  Leases leases;
  std::vector<ViewProgress> views;
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
  client::Bson rows;
  for (size_t i = 0; i < found.heads.size(); ++i) {
    const ChainHead& head = found.heads[i];
    client::Bson row;
    row.Integer("symbol_id", head.chain)
        .Integer("records", head.records)
        .Integer("output_seq", head.sequence)
        .Text("hash", chains::HexOf(head.hash))
        .Bool("halted", !head.halted.empty());
    if (!head.halted.empty()) row.Text("halted_because", head.halted);
    if (const auto lease = found.leases.find(head.chain); lease != found.leases.end()) {
      client::Bson fields;
      fields.Text("owner", lease->second.owner)
          .Integer("epoch", lease->second.epoch)
          .Integer("expires_at_ms", lease->second.expires_at_ms);
      row.Document("lease", fields);
    }
    rows.Document(StrCat(i).c_str(), row);
  }
  const Sums sums = SumsOf(found.heads);
  client::Bson json;
  json.Integer("records", sums.records)
      .Integer("output_seq", sums.newest)
      .Integer("halted", sums.halted)
      .Array("symbols", rows);
  AppendTo(json, found.views);
  client::PrintJson(json);
}

std::string LeaseOf(const Leases& leases, int64_t chain) {
  const auto lease = leases.find(chain);
  if (lease == leases.end()) return "-";
  const int64_t left_ms = lease->second.expires_at_ms - Clock::System().NowMillis();
  return left_ms > 0 ? StrCat(lease->second.owner, ", for ", left_ms / 1000, " s") : std::string("free");
}

void PrintStats(const Found& found) {
  std::printf("%10s  %12s  %14s  %-16s  %s\n", "symbol", "records", "newest output", "hash", "lease");
  for (const ChainHead& head : found.heads) {
    std::printf("%10lld  %12lld  %14lld  %.16s  %s\n", static_cast<long long>(head.chain),
                static_cast<long long>(head.records), static_cast<long long>(head.sequence),
                chains::HexOf(head.hash).c_str(), LeaseOf(found.leases, head.chain).c_str());
    if (!head.halted.empty()) std::printf("%10s  halted: %s\n", "", head.halted.c_str());
  }
  const Sums sums = SumsOf(found.heads);
  std::printf("%zu symbols, %lld of them halted; %lld records\n", found.heads.size(),
              static_cast<long long>(sums.halted), static_cast<long long>(sums.records));
  for (const ViewProgress& view : found.views) std::printf("%s\n", Describe(view).c_str());
}

Status RunStats(Common& common) {
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(common.store));
  BRAID_TRY(const std::unique_ptr<Chains> chains, Chains::Open(*clients, common.options.ToChains()));
  Found found;
  BRAID_TRY(found.heads, chains->Heads());
  BRAID_TRY(const std::vector<LeaseInfo> leases, chains->Leases());
  for (const LeaseInfo& lease : leases) found.leases.emplace(lease.chain, lease);
  BRAID_TRY(found.views, braid::settlement::ReadProgress(*clients, common.options.database, found.heads));
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
