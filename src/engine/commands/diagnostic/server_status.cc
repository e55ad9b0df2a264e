// serverStatus: figures of the running server.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "base/log.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void AppendProcess(bson::Builder& reply) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
  reply.OpenObject("extra_info").Append("note", "fields vary by platform");
  reply.Append("user_time_us", micros(usage.ru_utime)).Append("system_time_us", micros(usage.ru_stime));
  reply.Append("maximum_resident_set_kb", int64_t{usage.ru_maxrss}).Append("page_faults", int64_t{usage.ru_majflt});
  reply.Append("voluntary_context_switches", int64_t{usage.ru_nvcsw})
      .Append("involuntary_context_switches", int64_t{usage.ru_nivcsw})
      .Close();
  reply.OpenObject("mem")
      .Append("bits", 64)
      .Append("resident", static_cast<int32_t>(ResidentBytes() >> 20))
      .Append("supported", true)
      .Close();
}

void AppendOperations(bson::Builder& reply, EngineParts& engine) {
  const Counters& counters = engine.counters;
  reply.OpenObject("opcounters").Append("insert", counters.inserts.load()).Append("query", counters.queries.load());
  reply.Append("update", counters.updates.load()).Append("delete", counters.deletes.load());
  reply.Append("getmore", counters.get_mores.load()).Append("command", counters.commands.load()).Close();
  const Cursors::Figures cursors = engine.cursors.figures();
  reply.OpenObject("metrics").OpenObject("cursor").OpenObject("open").Append("total",
                                                                             static_cast<int64_t>(cursors.open));
  reply.Append("noTimeout", static_cast<int64_t>(cursors.no_timeout))
      .Close()
      .Append("timedOut", cursors.timed_out)
      .Close();
  reply.OpenObject("document")
      .Append("inserted", counters.documents_inserted.load())
      .Append("returned", counters.documents_returned.load());
  reply.Append("updated", counters.documents_updated.load())
      .Append("deleted", counters.documents_deleted.load())
      .Close();
  reply.OpenObject("operation")
      .Append("writeConflicts", counters.write_conflicts.load())
      .Append("failed", counters.errors.load())
      .Close();
  engine.command_figures.AppendCommands(reply);
  reply.OpenObject("ttl")
      .Append("passes", engine.ttl.passes())
      .Append("deletedDocuments", engine.ttl.removed())
      .Append("lagMillis", int64_t{engine.ttl.lag().count()})
      .Close()
      .Close();
  reply.OpenObject("logicalSessionRecordCache")
      .Append("activeSessionsCount", static_cast<int64_t>(engine.sessions.size()))
      .Close();
  const Transactions::Figures transactions = engine.transactions.figures();
  reply.OpenObject("transactions")
      .Append("currentOpen", transactions.open)
      .Append("totalStarted", transactions.started)
      .Append("totalCommitted", transactions.committed)
      .Append("totalAborted", transactions.aborted)
      .Append("retriedStatementsCount", transactions.retried_statements)
      .Close();
}

// The memory that requests hold, which has one common limit.
void AppendMemory(bson::Builder& reply, const MemoryBudget& memory, const SpillSpace& spill) {
  reply.OpenObject("memoryBudget")
      .Append("limitBytes", memory.limit())
      .Append("usedBytes", memory.used())
      .Append("refused", memory.refused())
      .Append("spilledBytes", spill.bytes())
      .Append("spilledFiles", static_cast<int64_t>(spill.files()));
  reply.OpenObject("holders");
  for (size_t i = 0; i < kMemoryHolders; ++i) {
    const auto holder = static_cast<MemoryHolder>(i);
    reply.Append(NameOf(holder), memory.used_by(holder));
  }
  reply.Close().Close();
}

void AppendStorage(bson::Builder& reply, EngineParts& engine) {
  const storage::Store::Figures figures = engine.store->figures();
  reply.OpenObject("storageEngine")
      .Append("name", "rocksdb")
      .Append("supportsCommittedReads", true)
      .Append("persistent", true);
  const Status writable = engine.store->writable();
  reply.Append("readOnly", !writable.ok());
  if (!writable.ok()) reply.Append("readOnlyReason", writable.message());
  reply.Close();
  reply.OpenObject("rocksdb")
      .Append("commits", figures.commits)
      .Append("syncs", figures.syncs)
      .Append("bytesWritten", figures.bytes_written);
  reply.Append("cacheBytesUsed", figures.cache_bytes_used).Append("memtableBytes", figures.memtable_bytes);
  reply.Append("diskBytes", figures.disk_bytes).Close();
}

// How the operations on sharded collections were routed, and what each shard did for them.
void AppendSharding(bson::Builder& reply, EngineParts& engine) {
  const std::vector<catalog::Shard> shards = engine.catalog->shards();
  reply.OpenObject("shardingStatistics").OpenArray("collections");
  for (const catalog::CollectionPtr& collection : engine.catalog->All()) {
    if (!collection->sharded()) continue;
    reply.OpenNextObject().Append("ns", collection->ns.ToString());
    reply.Append("targeted", collection->state->targeted.load());
    reply.Append("scattered", collection->state->scattered.load()).OpenArray("shards");
    for (const catalog::Shard& shard : shards) {
      const sharding::ShardFigures::Figures figures = collection->state->by_shard.Of(shard.number);
      if (figures.asked == 0 && figures.written == 0) continue;
      reply.OpenNextObject().Append("shard", shard.name);
      reply.Append("asked", figures.asked).Append("written", figures.written).Close();
    }
    reply.Close().Close();
  }
  reply.Close().Close();
}

void AppendWaits(bson::Builder& reply, EngineParts& engine) {
  const txn::LockTable::Figures locks = engine.locks.figures();
  reply.OpenObject("documentLocks")
      .Append("waiting", locks.waiting)
      .Append("waits", locks.waits)
      .Append("waitedMicros", int64_t{std::chrono::duration_cast<std::chrono::microseconds>(locks.waited).count()})
      .Close();
  const ProfileWriter::Figures profiler = engine.profiler.writer().figures();
  reply.OpenObject("profiler").Append("written", profiler.written).Append("dropped", profiler.dropped).Close();
}

// Sections can be switched off by name ({metrics: 0}) in MongoDB; any field is accepted and the whole answer given.
Result<bson::Document> RunServerStatus(Call& call) {
  EngineParts& engine = call.engine;
  const int64_t uptime_millis = call.context.now_millis() - engine.started_millis;
  const int64_t uptime_seconds = uptime_millis / 1000;
  bson::Builder reply;
  reply.Append("host", engine.options.advertised_host).Append("version", kMongoVersion).Append("process", "mongos");
  reply.Append("pid", static_cast<int64_t>(getpid())).Append("uptime", static_cast<double>(uptime_seconds));
  reply.Append("uptimeMillis", uptime_millis).Append("uptimeEstimate", uptime_seconds);
  reply.Append("localTime", bson::Date{call.context.now_millis()});
  reply.OpenObject("braid")
      .Append("version", kBraidVersion)
      .Append("shards", static_cast<int32_t>(engine.catalog->shards().size()))
      .Close();
  if (engine.connection_figures) reply.AppendAll(engine.connection_figures());
  AppendOperations(reply, engine);
  engine.command_figures.AppendLatencies(reply);
  AppendMemory(reply, engine.memory, engine.spill);
  AppendSharding(reply, engine);
  AppendStorage(reply, engine);
  AppendWaits(reply, engine);
  reply.OpenObject("log").Append("droppedLines", static_cast<int64_t>(log::Dropped())).Close();
  AppendProcess(reply);
  return reply.Finish();
}

}  // namespace

constinit const Command kServerStatus = {
    .name = "serverStatus", .flags = kReadOnly, .help = "Figures of the running server.", .run = RunServerStatus};
}  // namespace braid::commands
