#include "services/staking/tables.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::staking {
namespace {

constexpr uint32_t kDefaultShards = 10;
constexpr const char* kLocks = "stats_lock";
constexpr const char* kOverallStats = "overall_stats";
constexpr const char* kProviderStats = "finality_providers_stats";
constexpr const char* kStakerStats = "staker_stats";
// Creating a collection inside a transaction conflicts with every other transaction that needs it.
constexpr const char* kCreated[] = {kLocks,           kOverallStats,  kProviderStats,  kStakerStats,
                                    kDelegations,     kPending,       kUnprocessable,  kConflicting,
                                    kProviderRanking, kStakerRanking, "counter_leases"};

Status Create(mongoc_client_t* client, const std::string& database, const char* collection) {
  client::Bson command;
  command.Text("create", collection);
  const auto reply = client::RunCommand(client, database.c_str(), command.get());
  return reply.ok() || reply.error().code() == Code::kNamespaceExists ? Status() : reply.error();
}

// The store's number of logical shards: the largest of the three sets, because a process that raises them may be killed
// in between.
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

using OpenSet = Result<std::unique_ptr<Counters>> (*)(Clients&, const CounterOptions&);

Status OpenCounters(Clients& clients, OpenSet open_set, uint32_t shards, Tables& tables) {
  const auto open = [&](const char* collection, size_t fields, const char* ranking) {
    return open_set(clients, {.database = tables.database,
                              .collection = collection,
                              .fields = {kFieldNames, kFieldNames + fields},
                              .shard_count = shards,
                              .ranking = ranking});
  };
  BRAID_TRY(tables.overall, open(kOverallStats, 5, ""));
  BRAID_TRY(tables.providers, open(kProviderStats, 4, kProviderRanking));
  BRAID_TRY(tables.stakers, open(kStakerStats, 4, kStakerRanking));
  return {};
}

std::unique_ptr<Tables> NewTables(const std::string& database) {
  return std::make_unique<Tables>(
      Tables{.database = database,
             .locks = *Once::Open({.database = database,
                                   .collection = kLocks,
                                   .calculations = {"overall_stats", "finality_provider", "staker_stats"}})});
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::OpenToRead(Clients& clients, const Options& options) {
  {
    const Client client = clients.Acquire();
    const client::DatabasePtr database(mongoc_client_get_database(client.get(), options.database.c_str()));
    bson_error_t error{};
    if (!mongoc_database_has_collection(database.get(), kOverallStats, &error)) {
      if (error.code != 0) return client::FromError(error);
      return Status(Code::kNamespaceNotFound,
                    StrCat("the store has no staking statistics in the database '", options.database, "'"));
    }
  }
  std::unique_ptr<Tables> tables = NewTables(options.database);
  BRAID_CHECK_OK(OpenCounters(clients, Counters::OpenToRead, kDefaultShards, *tables));
  return tables;
}

Result<std::unique_ptr<Tables>> Tables::Open(Clients& clients, const Options& options) {
  {
    const Client client = clients.Acquire();
    for (const char* collection : kCreated) BRAID_CHECK_OK(Create(client.get(), options.database, collection));
  }
  std::unique_ptr<Tables> tables = NewTables(options.database);
  if (options.shard_count != 0) {
    BRAID_CHECK_OK(OpenCounters(clients, Counters::Open, options.shard_count, *tables));
    return tables;
  }
  while (true) {
    BRAID_TRY(const uint32_t stored, StoredShards(clients, options.database));
    const Status status = OpenCounters(clients, Counters::Open, stored == 0 ? kDefaultShards : stored, *tables);
    if (status.ok()) return tables;
    // Another process has raised the number since it was read; it has an upper limit.
    if (status.code() != Code::kShardCountLowered) return status;
  }
}

std::span<const schema::CollectionSpec> Collections() {
  // The order of a ranking, and the marks of what it does not know yet (braid/counters.h).
  const std::vector<schema::IndexSpec> order = {{.keys = R"({"active_tvl": -1, "_id": 1})"}};
  const std::vector<schema::IndexSpec> marks = {{.keys = R"({"unranked": 1})", .sparse = true}};
  static const std::vector<schema::CollectionSpec> collections = {
      {.name = "stats_lock"},
      {.name = "overall_stats"},
      {.name = "finality_providers_stats", .indexes = marks},
      {.name = "staker_stats", .indexes = marks},
      {.name = kProviderRanking, .indexes = order},
      {.name = kStakerRanking, .indexes = order},
      {.name = kDelegations},
      {.name = kPending},
      {.name = kUnprocessable},
      {.name = kConflicting},
      {.name = "counter_sets"},
      {.name = "counter_leases"},
  };
  return collections;
}

}  // namespace braid::staking
