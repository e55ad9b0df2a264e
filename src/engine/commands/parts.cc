// EngineParts: how its parts are connected, cleaned up, and named to clients.
#include "engine/commands/parts.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/descriptors.h"
#include "base/fiber.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "engine/bson/builder.h"

namespace braid::commands {
namespace {

constexpr std::chrono::milliseconds kPeriod{500};

}  // namespace

EngineParts::EngineParts(const EngineOptions& given, std::unique_ptr<storage::Store> opened,
                         std::unique_ptr<catalog::Catalog> loaded)
    : options(given),
      store(std::move(opened)),
      catalog(std::move(loaded)),
      memory(given.memory_limit_bytes),
      spill(given.directory, ShareDescriptors().spilled),
      operations(*given.clock),
      workers(std::max(1u, std::thread::hardware_concurrency()) - 1),
      shared{*store, *catalog, locks, operations, *given.clock, &workers, &memory, &spill},
      cluster_clock(*given.clock),
      sessions(*given.clock),
      transactions(shared, given.transaction_lifetime),
      snapshots(*given.clock),
      cursors(*given.clock, &memory),
      query_sampler(*given.clock),
      profiler(shared, {.slow_millis = given.slow.count(), .logs = given.logs_slow}),
      started_millis(given.clock->NowMillis()),
      process_id(bson::ObjectId::Generate()),
      ttl(shared),
      balancer(shared),
      janitor(*this) {}

std::string ShardName(const EngineParts& engine, storage::ShardNumber shard) {
  return engine.catalog->cluster().NameOf(shard);
}

std::string PrimaryShard(const EngineParts& engine, const catalog::Collection& collection) {
  return ShardName(engine, collection.placement->chunks.front().shard);
}

std::string ShardHost(const EngineParts& engine, storage::ShardNumber shard) {
  return StrCat(ShardName(engine, shard), "/", engine.options.advertised_host);
}

int32_t ServerPort(const EngineParts& engine) {
  const std::string& host = engine.options.advertised_host;
  const size_t colon = host.rfind(':');
  return colon == std::string::npos ? 27017 : std::atoi(host.c_str() + colon + 1);
}

bson::Document ServerInfo(const EngineParts& engine) {
  const std::string& host = engine.options.advertised_host;
  return bson::Make("host", host.substr(0, host.rfind(':')), "port", ServerPort(engine), "version", kMongoVersion,
                    "gitVersion", "braid");
}

Janitor::Janitor(EngineParts& parts) : parts_(parts), thread_([this] { Loop(); }) {}

Janitor::~Janitor() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void Janitor::Sweep() {
  parts_.cursors.Expire();
  parts_.query_sampler.Sweep();
  const std::vector<std::string> over = parts_.sessions.Expire();
  for (const std::string& lsid : over) parts_.cursors.KillSession(lsid);
  parts_.transactions.Forget(over);
  for (const auto& [lsid, number] : parts_.transactions.Sweep()) parts_.cursors.KillTransaction(lsid, number);
  parts_.snapshots.Sweep();
  parts_.store->Reclaim();
  Fiber::FreeUnusedStacks();
}

void Janitor::Loop() {
  MutexLock lock(mu_);
  while (!wake_.WaitFor(lock, kPeriod, [this]() BRAID_REQUIRES(mu_) { return stop_; })) {
    lock.Unlock();
    Sweep();
    lock.Lock();
  }
}

}  // namespace braid::commands
