#include "services/staking/tables.h"

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

// What the store has: the same for the three sets.
Result<uint32_t> StoredShards(Clients& clients, const std::string& database) {
  uint32_t shards = 0;
  const std::string name[] = {kOverallStats};
  BRAID_CHECK_OK(RunTransaction(clients, {.database = database}, [&](Transaction& transaction) {
    return transaction.FindIds("counter_sets", name, [&](const bson_t& document) {
      shards = static_cast<uint32_t>(client::IntegerOf(&document, "shards"));
      return Status();
    });
  }));
  return shards;
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::Open(Clients& clients, const Options& options) {
  {
    const Client client = clients.Acquire();
    for (const char* collection : kCreated) BRAID_CHECK_OK(Create(client.get(), options.database, collection));
  }
  uint32_t shards = options.shard_count;
  if (shards == 0) {
    BRAID_TRY(const uint32_t stored, StoredShards(clients, options.database));
    shards = stored == 0 ? kDefaultShards : stored;
  }
  const auto open = [&](const char* collection, size_t fields) {
    return Counters::Open(clients, {.database = options.database,
                                    .collection = collection,
                                    .fields = {kFieldNames, kFieldNames + fields},
                                    .shard_count = shards});
  };
  auto tables = std::make_unique<Tables>(
      Tables{.database = options.database,
             .locks = Once({.database = options.database,
                            .collection = kLocks,
                            .calculations = {"overall_stats", "finality_provider", "staker_stats"}})});
  BRAID_TRY(tables->overall, open(kOverallStats, 5));
  BRAID_TRY(tables->providers, open(kProviderStats, 4));
  BRAID_TRY(tables->stakers, open(kStakerStats, 4));
  return tables;
}

}  // namespace braid::staking
