// EngineParts: the parts of a running engine, through which handlers reach everything; the janitor, which cleans them
// up; and how they are named to clients: shards, the server, its version.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "engine/balance/balancer.h"
#include "engine/bson/value.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/collection.h"
#include "engine/commands/cluster_clock.h"
#include "engine/commands/command_figures.h"
#include "engine/commands/cursors.h"
#include "engine/commands/engine.h"
#include "engine/commands/fail_points.h"
#include "engine/commands/profiler.h"
#include "engine/commands/query_sampler.h"
#include "engine/commands/sessions.h"
#include "engine/commands/transactions.h"
#include "engine/storage/keys.h"
#include "engine/storage/store.h"
#include "engine/txn/context.h"
#include "engine/txn/ttl.h"

namespace braid::commands {

struct EngineParts;

/// A thread that closes idle cursors, sessions and transactions and forgets old samples and snapshots, twice a second.
class Janitor {
 public:
  explicit Janitor(EngineParts& parts);
  ~Janitor();  ///< stops and joins
  /// One pass; for tests and the thread.
  void Sweep();

 private:
  void Loop();
  EngineParts& parts_;
  Mutex mu_;
  CondVar wake_;
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

constexpr std::string_view kMongoVersion = "7.0.14";  // the version of MongoDB that Braid presents itself as
constexpr std::string_view kBraidVersion = "0.1.0";
constexpr int32_t kWireVersionMax = 21;

/// Figures of serverStatus's opcounters and metrics.
struct Counters {
  std::atomic<uint64_t> inserts{0};
  std::atomic<uint64_t> queries{0};
  std::atomic<uint64_t> updates{0};
  std::atomic<uint64_t> deletes{0};
  std::atomic<uint64_t> get_mores{0};
  std::atomic<uint64_t> commands{0};
  std::atomic<uint64_t> errors{0};
  std::atomic<uint64_t> write_conflicts{0};  // retried inside the server
  std::atomic<uint64_t> documents_inserted{0};
  std::atomic<uint64_t> documents_returned{0};
  std::atomic<uint64_t> documents_updated{0};
  std::atomic<uint64_t> documents_deleted{0};
};

struct EngineParts {
  EngineParts(const EngineOptions& given, std::unique_ptr<storage::Store> opened,
              std::unique_ptr<catalog::Catalog> loaded);

  const EngineOptions options;
  const std::unique_ptr<storage::Store> store;
  const std::unique_ptr<catalog::Catalog> catalog;
  MemoryBudget memory;
  SpillSpace spill;
  txn::LockTable locks;
  txn::Operations operations;
  Workers workers;
  txn::Shared shared;
  ClusterClock cluster_clock;
  Sessions sessions;
  Transactions transactions;
  Snapshots snapshots;
  Cursors cursors;
  FailPoints fail_points;
  QuerySampler query_sampler;
  Profiler profiler;
  Counters counters;
  CommandFigures command_figures;
  const int64_t started_millis;
  const bson::ObjectId process_id;  // of this run: no other engine has it
  std::atomic<int64_t> last_connection{0};
  std::atomic<bool> shutting_down{false};
  std::function<bson::Document()> connection_figures;
  txn::TtlSweeper ttl;
  balance::Balancer balancer;
  Janitor janitor;  // last: its thread uses the rest
};

/// "shard0", "shard1", … unless addShard gave another name.
std::string ShardName(const EngineParts& engine, storage::ShardNumber shard);
/// The shard of a collection that is not sharded.
std::string PrimaryShard(const EngineParts& engine, const catalog::Collection& collection);
/// "shard0/localhost:27017", as connection strings of shards look.
std::string ShardHost(const EngineParts& engine, storage::ShardNumber shard);
/// {host, port, version, gitVersion}
bson::Document ServerInfo(const EngineParts& engine);
/// The part after the last colon of the advertised address.
int32_t ServerPort(const EngineParts& engine);

}  // namespace braid::commands
