#include "services/staking/tables.h"

#include <algorithm>

#include "base/strings.h"
#include "client/command.h"
#include "client/fields.h"

namespace braid::staking {
namespace {

constexpr uint32_t kDefaultShards = 10;
constexpr const char* kLocks = "stats_lock";
constexpr const char* kOverallStats = "overall_stats";
constexpr const char* kProviderStats = "finality_providers_stats";
constexpr const char* kStakerStats = "staker_stats";
// A collection that is created inside a transaction collides with every other transaction that needs it.
constexpr const char* kCreated[] = {kLocks,       kOverallStats, kProviderStats, kStakerStats,
                                    kDelegations, kPending,      kUnprocessable, "counter_leases"};

Status Create(mongoc_client_t* client, const std::string& database, const char* collection) {
  client::Bson command;
  command.Text("create", collection);
  const auto reply = client::RunCommand(client, database.c_str(), command.get());
  return reply.ok() || reply.error().code() == Code::kNamespaceExists ? Status() : reply.error();
}

// What the store has: the most of the three sets, for whoever raises them may be killed in between.
Result<uint32_t> StoredShards(Clients& clients, const std::string& database) {
  uint32_t shards = 0;
  const std::string names[] = {kOverallStats, kProviderStats, kStakerStats};
  BRAID_CHECK_OK(RunTransaction(clients, {.database = database}, [&](Transaction& transaction) {
    shards = 0;
    return transaction.FindIds("counter_sets", names, [&](const bson_t& document) {
      shards = std::max(shards, static_cast<uint32_t>(client::IntegerOf(&document, "shards")));
      return Status();
    });
  }));
  return shards;
}

Status OpenCounters(Clients& clients, uint32_t shards, Tables& tables) {
  const auto open = [&](const char* collection, size_t fields) {
    return Counters::Open(clients, {.database = tables.database,
                                    .collection = collection,
                                    .fields = {kFieldNames, kFieldNames + fields},
                                    .shard_count = shards});
  };
  BRAID_TRY(tables.overall, open(kOverallStats, 5));
  BRAID_TRY(tables.providers, open(kProviderStats, 4));
  BRAID_TRY(tables.stakers, open(kStakerStats, 4));
  return {};
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::Open(Clients& clients, const Options& options) {
  {
    const Client client = clients.Acquire();
    for (const char* collection : kCreated) BRAID_CHECK_OK(Create(client.get(), options.database, collection));
  }
  auto tables = std::make_unique<Tables>(
      Tables{.database = options.database,
             .locks = Once({.database = options.database,
                            .collection = kLocks,
                            .calculations = {"overall_stats", "finality_provider", "staker_stats"}})});
  if (options.shard_count != 0) {
    BRAID_CHECK_OK(OpenCounters(clients, options.shard_count, *tables));
    return tables;
  }
  while (true) {
    BRAID_TRY(const uint32_t stored, StoredShards(clients, options.database));
    const Status status = OpenCounters(clients, stored == 0 ? kDefaultShards : stored, *tables);
    if (status.ok()) return tables;
    // Somebody has raised the number since it was read; it has an upper limit.
    if (status.code() != Code::kShardCountLowered) return status;
  }
}

}  // namespace braid::staking
