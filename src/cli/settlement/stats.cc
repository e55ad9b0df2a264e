// braid settlement stats: each symbol's chain as it is now.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/settlement/actions.h"
#include "cli/store_option.h"
#include "patterns/chains/hash.h"

namespace braid::cli::settlement {
namespace {

using Leases = std::map<int64_t, LeaseInfo>;

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

void PrintJson(const std::vector<ChainHead>& heads, const Leases& leases) {
  client::Bson rows;
  for (size_t i = 0; i < heads.size(); ++i) {
    const ChainHead& head = heads[i];
    client::Bson row;
    row.Integer("symbol_id", head.chain)
        .Integer("records", head.records)
        .Integer("output_seq", head.sequence)
        .Text("hash", chains::HexOf(head.hash))
        .Bool("halted", !head.halted.empty());
    if (!head.halted.empty()) row.Text("halted_because", head.halted);
    if (const auto lease = leases.find(head.chain); lease != leases.end()) {
      client::Bson fields;
      fields.Text("owner", lease->second.owner)
          .Integer("epoch", lease->second.epoch)
          .Integer("expires_at_ms", lease->second.expires_at_ms);
      row.Document("lease", fields);
    }
    rows.Document(StrCat(i).c_str(), row);
  }
  const Sums sums = SumsOf(heads);
  client::Bson json;
  json.Integer("records", sums.records)
      .Integer("output_seq", sums.newest)
      .Integer("halted", sums.halted)
      .Array("symbols", rows);
  client::PrintJson(json);
}

std::string Describe(const Leases& leases, int64_t chain) {
  const auto lease = leases.find(chain);
  if (lease == leases.end()) return "-";
  const int64_t left_ms = lease->second.expires_at_ms - Clock::System().NowMillis();
  return left_ms > 0 ? StrCat(lease->second.owner, ", for ", left_ms / 1000, " s") : std::string("free");
}

void PrintText(const std::vector<ChainHead>& heads, const Leases& leases) {
  std::printf("%10s  %12s  %14s  %-16s  %s\n", "symbol", "records", "newest output", "hash", "lease");
  for (const ChainHead& head : heads) {
    std::printf("%10lld  %12lld  %14lld  %.16s  %s\n", static_cast<long long>(head.chain),
                static_cast<long long>(head.records), static_cast<long long>(head.sequence),
                chains::HexOf(head.hash).c_str(), Describe(leases, head.chain).c_str());
    if (!head.halted.empty()) std::printf("%10s  halted: %s\n", "", head.halted.c_str());
  }
  const Sums sums = SumsOf(heads);
  std::printf("%zu symbols, %lld of them halted; %lld records\n", heads.size(), static_cast<long long>(sums.halted),
              static_cast<long long>(sums.records));
}

Status Run(Common& common) {
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(common.store));
  BRAID_TRY(const std::unique_ptr<Chains> chains, Chains::Open(*clients, common.options.ToChains()));
  BRAID_TRY(const std::vector<ChainHead> heads, chains->Heads());
  BRAID_TRY(const std::vector<LeaseInfo> list, chains->Leases());
  Leases leases;
  for (const LeaseInfo& lease : list) leases.emplace(lease.chain, lease);
  common.json ? PrintJson(heads, leases) : PrintText(heads, leases);
  return {};
}

}  // namespace

Action SetUpStats(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  AddCommonOptions(app, *common);
  return [common] { return Run(*common); };
}

}  // namespace braid::cli::settlement
