// braid staking shards: the logical shards that the counters are spread over.
#include "cli/patience.h"
#include "services/staking/queries.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/staking/actions.h"
#include "client/handles.h"

namespace braid::cli::staking {
namespace {

using braid::staking::kActiveTvl;
using braid::staking::kFieldNames;
using braid::staking::kTotalDelegations;
using braid::staking::ShardInfo;
using braid::staking::Tables;

void PrintJson(const std::vector<ShardInfo>& shards) {
  client::Bson rows;
  for (size_t i = 0; i < shards.size(); ++i) {
    client::Bson row;
    row.Text("shard", shards[i].shard);
    for (const char* field : kFieldNames) row.Integer(field, shards[i].sums[field]);
    row.Text("owner", shards[i].owner).Integer("owned_ms", shards[i].owned_ms);
    rows.Document(StrCat(i).c_str(), row);
  }
  client::Bson json;
  json.Integer("logical_shard_count", static_cast<int64_t>(shards.size())).Array("shards", rows);
  client::PrintJson(json);
}

void PrintText(const std::vector<ShardInfo>& shards) {
  std::printf("%zu logical shards: each sum reads that many documents, and that many writers can work concurrently.\n",
              shards.size());
  std::printf("A shard alone may be negative: only sums mean something.\n");
  std::printf("%5s  %26s  %18s  %s\n", "shard", "active_tvl", "total_delegations", "owner");
  for (const ShardInfo& shard : shards) {
    const std::string owner = shard.owner.empty() ? "-" : StrCat(shard.owner, ", for ", shard.owned_ms / 1000, " s");
    std::printf("%5s  %22lld sat  %18lld  %s\n", shard.shard.c_str(), static_cast<long long>(shard.sums[kActiveTvl]),
                static_cast<long long>(shard.sums[kTotalDelegations]), owner.c_str());
  }
}

Status RunShards(Common& common) {
  const Patience patience(common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Tables> tables, Tables::OpenToRead(*clients, common.options));
  BRAID_TRY(const std::vector<ShardInfo> shards, DescribeShards(*clients, *tables));
  common.json ? PrintJson(shards) : PrintText(shards);
  return {};
}

}  // namespace

Action SetUpShards(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  AddCommonOptions(app, *common);
  return [common] { return RunShards(*common); };
}

}  // namespace braid::cli::staking
