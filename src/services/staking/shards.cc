#include "services/staking/shards.h"

#include "base/clock.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::staking {

Result<std::vector<ShardInfo>> DescribeShards(Clients& clients, const Tables& tables) {
  std::vector<ShardInfo> shards(tables.overall->shard_count());
  std::vector<std::string> ids;
  std::vector<std::string> leases;
  for (uint32_t i = 0; i < shards.size(); ++i) {
    shards[i].shard = StrCat(i);
    ids.push_back(shards[i].shard);
    leases.push_back(StrCat(kLeaseGroup, ":", i));
  }
  const int64_t now = Clock::System().NowMillis();
  const auto number = [&](std::string_view text) { return static_cast<size_t>(std::stoul(std::string(text))); };
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(transaction.FindIds(tables.overall->options().collection, ids, [&](const bson_t& document) {
      ShardInfo& shard = shards[number(client::TextOf(&document, "_id"))];
      const auto& fields = tables.overall->options().fields;
      for (size_t i = 0; i < fields.size(); ++i) shard.sums[i] = client::IntegerOf(&document, fields[i].c_str());
      return Status();
    }));
    return transaction.FindIds("counter_leases", leases, [&](const bson_t& document) {
      const int64_t left = client::DateOf(&document, "expires_at").value_or(0) - now;
      if (left <= 0) return Status();
      ShardInfo& shard =
          shards[number(client::TextOf(&document, "_id").substr(std::string_view(kLeaseGroup).size() + 1))];
      shard.owner = client::TextOf(&document, "owner");
      shard.owned_ms = left;
      return Status();
    });
  }));
  return shards;
}

}  // namespace braid::staking
