// The figures of the store as metrics. The engine counts; this only converts them to Prometheus's format.
#include "http/metrics.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::http {
namespace {

using client::IntegerOf;

// A figure that is one number of serverStatus.
struct Figure {
  const char* name;
  const char* type;
  const char* help;
  const char* path;
  double scale = 1;
};

constexpr double kMicros = 1e-6;
constexpr double kMillis = 1e-3;

constexpr Figure kFigures[] = {
    {"braid_uptime_seconds", "gauge", "Seconds since the server was started.", "uptimeMillis", kMillis},
    {"braid_shards", "gauge", "Logical shards of the store.", "braid.shards"},
    {"braid_connections", "gauge", "Connections of MongoDB clients that are open.", "connections.current"},
    {"braid_connections_accepted_total", "counter", "Connections of MongoDB clients that were accepted.",
     "connections.totalCreated"},
    {"braid_connections_rejected_total", "counter", "Connections refused because of --max-connections.",
     "connections.rejected"},
    {"braid_network_received_bytes_total", "counter", "Bytes received from MongoDB clients.", "network.bytesIn"},
    {"braid_network_sent_bytes_total", "counter", "Bytes sent to MongoDB clients.", "network.bytesOut"},
    {"braid_network_requests_total", "counter", "Requests of MongoDB clients.", "network.numRequests"},
    {"braid_documents_inserted_total", "counter", "Documents inserted.", "metrics.document.inserted"},
    {"braid_documents_returned_total", "counter", "Documents returned by queries.", "metrics.document.returned"},
    {"braid_documents_updated_total", "counter", "Documents updated.", "metrics.document.updated"},
    {"braid_documents_deleted_total", "counter", "Documents deleted.", "metrics.document.deleted"},
    {"braid_operations_failed_total", "counter", "Commands that were answered with an error.",
     "metrics.operation.failed"},
    {"braid_write_conflicts_total", "counter", "Writes that met another writer's lock, and waited or were run again.",
     "metrics.operation.writeConflicts"},
    {"braid_cursors_open", "gauge", "Cursors that are open.", "metrics.cursor.open.total"},
    {"braid_cursors_timed_out_total", "counter", "Cursors closed because they were idle.", "metrics.cursor.timedOut"},
    {"braid_sessions", "gauge", "Logical sessions that are known.", "logicalSessionRecordCache.activeSessionsCount"},
    {"braid_transactions_open", "gauge", "Transactions that are open.", "transactions.currentOpen"},
    {"braid_transactions_started_total", "counter", "Transactions that were started.", "transactions.totalStarted"},
    {"braid_transactions_committed_total", "counter", "Transactions that were committed.",
     "transactions.totalCommitted"},
    {"braid_transactions_aborted_total", "counter", "Transactions that were aborted.", "transactions.totalAborted"},
    {"braid_retried_statements_total", "counter", "Statements sent again by drivers, and answered without an effect.",
     "transactions.retriedStatementsCount"},
    {"braid_ttl_passes_total", "counter", "Passes over the expired documents.", "metrics.ttl.passes"},
    {"braid_ttl_deleted_documents_total", "counter", "Expired documents that were deleted.",
     "metrics.ttl.deletedDocuments"},
    {"braid_ttl_lag_seconds", "gauge",
     "Age of the last whole pass over expired documents: those that expired before it are gone.",
     "metrics.ttl.lagMillis", kMillis},
    {"braid_lock_waiting", "gauge", "Writes that wait for another writer's lock on a document.",
     "documentLocks.waiting"},
    {"braid_lock_waits_total", "counter", "Waits for locks on documents that are over.", "documentLocks.waits"},
    {"braid_lock_wait_seconds_total", "counter", "How long they took together.", "documentLocks.waitedMicros", kMicros},
    {"braid_queue_waiting", "gauge", "Requests of MongoDB clients that wait for a thread.", "requestQueue.waiting"},
    {"braid_queue_waits_total", "counter",
     "Waits for a thread that are over: of requests that found none, and turns of those that run long.",
     "requestQueue.waits"},
    {"braid_queue_wait_seconds_total", "counter", "How long they took together.", "requestQueue.waitedMicros", kMicros},
    {"braid_profiler_entries_total", "counter", "Entries written to system.profile.", "profiler.written"},
    {"braid_profiler_dropped_total", "counter", "Entries that were not: more than could be written, or an error.",
     "profiler.dropped"},
    {"braid_log_dropped_lines_total", "counter", "Lines of the log that were lost.", "log.droppedLines"},
    {"braid_memory_limit_bytes", "gauge", "Memory that all requests may hold together.", "memoryBudget.limitBytes"},
    {"braid_memory_used_bytes", "gauge", "Memory that requests hold.", "memoryBudget.usedBytes"},
    {"braid_memory_refused_total", "counter", "Requests that the memory limit has refused.", "memoryBudget.refused"},
    {"braid_store_commits_total", "counter", "Commits to the log.", "rocksdb.commits"},
    {"braid_store_syncs_total", "counter", "Syncs of the log; one serves every commit that waits for it.",
     "rocksdb.syncs"},
    {"braid_store_written_bytes_total", "counter", "Bytes of commits written to the log.", "rocksdb.bytesWritten"},
    {"braid_store_cache_used_bytes", "gauge", "Memory of cached blocks.", "rocksdb.cacheBytesUsed"},
    {"braid_store_memtable_bytes", "gauge", "Memory of changes that are not yet in table files.",
     "rocksdb.memtableBytes"},
    {"braid_store_disk_bytes", "gauge", "Size of the table files.", "rocksdb.diskBytes"},
    {"braid_process_resident_memory_max_bytes", "gauge", "The most memory that the process ever had.",
     "extra_info.maximum_resident_set_kb", 1024},
    {"braid_process_user_cpu_seconds_total", "counter", "CPU time of the process in its own code.",
     "extra_info.user_time_us", kMicros},
    {"braid_process_system_cpu_seconds_total", "counter", "CPU time of the process in the kernel.",
     "extra_info.system_time_us", kMicros},
};

// Calls `each` with every field of the document at `path`.
template <typename Function>
void ForEachField(const bson_t& document, const char* path, const Function& each) {
  bson_iter_t start;
  bson_iter_t found;
  bson_iter_t field;
  if (!bson_iter_init(&start, &document) || !bson_iter_find_descendant(&start, path, &found)) return;
  if (!bson_iter_recurse(&found, &field)) return;
  while (bson_iter_next(&field)) each(field);
}

// The document that a field holds, to be read while the field lives; false if it holds none.
bool OpenDocument(const bson_iter_t& field, bson_t& document) {
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  if (!BSON_ITER_HOLDS_DOCUMENT(&field)) return false;
  bson_iter_document(&field, &length, &bytes);
  return bson_init_static(&document, bytes, length);
}

void WriteNamed(const bson_t& status, const char* path, std::string_view label, Exposition& out) {
  ForEachField(status, path, [&](bson_iter_t& field) {
    out.Sample(static_cast<double>(bson_iter_as_int64(&field)), {{label, bson_iter_key(&field)}});
  });
}

void WriteSharding(const bson_t& status, const char* name, const char* help, const char* field, Exposition& out) {
  out.Family(name, "counter", help);
  ForEachField(status, "shardingStatistics.collections", [&](bson_iter_t& row) {
    bson_t collection;
    if (!OpenDocument(row, collection)) return;
    out.Sample(static_cast<double>(IntegerOf(&collection, field)), {{"collection", client::TextOf(&collection, "ns")}});
  });
}

void WriteShards(const bson_t& status, const char* name, const char* help, const char* field, Exposition& out) {
  out.Family(name, "counter", help);
  ForEachField(status, "shardingStatistics.collections", [&](bson_iter_t& row) {
    bson_t collection;
    if (!OpenDocument(row, collection)) return;
    ForEachField(collection, "shards", [&](bson_iter_t& part) {
      bson_t shard;
      if (!OpenDocument(part, shard)) return;
      out.Sample(static_cast<double>(IntegerOf(&shard, field)),
                 {{"collection", client::TextOf(&collection, "ns")}, {"shard", client::TextOf(&shard, "shard")}});
    });
  });
}

// Each command, by how it ended.
void WriteCommands(const bson_t& status, const char* name, const char* help, const char* field, Exposition& out) {
  out.Family(name, "counter", help);
  ForEachField(status, "metrics.commands", [&](bson_iter_t& row) {
    bson_t command;
    if (!OpenDocument(row, command)) return;
    out.Sample(static_cast<double>(IntegerOf(&command, field)), {{"command", bson_iter_key(&row)}});
  });
}

// serverStatus has the lower bound of each bucket and its own count; Prometheus wants upper bounds and sums.
void WriteLatency(const bson_t& status, const char* kind, Exposition& out) {
  struct Bucket {
    int64_t lower_micros;
    int64_t count;
  };
  std::vector<Bucket> buckets;
  const std::string path = StrCat("opLatencies.", kind);
  ForEachField(status, StrCat(path, ".histogram").c_str(), [&](bson_iter_t& row) {
    bson_t bucket;
    if (!OpenDocument(row, bucket)) return;
    buckets.push_back({.lower_micros = IntegerOf(&bucket, "micros"), .count = IntegerOf(&bucket, "count")});
  });
  double total = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    total += static_cast<double>(buckets[i].count);
    const bool last = i + 1 == buckets.size();
    const std::string bound = last ? "+Inf" : fmt::format("{}", static_cast<double>(buckets[i + 1].lower_micros) / 1e6);
    out.Sample(total, {{"kind", kind}, {"le", bound}}, "_bucket");
  }
  out.Sample(static_cast<double>(IntegerOf(&status, StrCat(path, ".latency").c_str())) * kMicros, {{"kind", kind}},
             "_sum");
  out.Sample(total, {{"kind", kind}}, "_count");
}

}  // namespace

void WriteEngineMetrics(const bson_t& server_status, Exposition& out) {
  for (const Figure& figure : kFigures) {
    out.Family(figure.name, figure.type, figure.help);
    out.Sample(static_cast<double>(IntegerOf(&server_status, figure.path)) * figure.scale);
  }
  out.Family("braid_operations_total", "counter",
             "Operations by kind: insert, query, update, delete, getmore, command.");
  WriteNamed(server_status, "opcounters", "kind", out);
  WriteCommands(server_status, "braid_commands_total", "Commands that were run, by name.", "total", out);
  WriteCommands(server_status, "braid_commands_failed_total",
                "Commands that failed, or some of whose writes did, by name.", "failed", out);
  out.Family("braid_command_duration_seconds", "histogram",
             "How long commands ran, without the wait for the log: reads, writes and other commands.");
  for (const char* kind : {"reads", "writes", "commands"}) WriteLatency(server_status, kind, out);
  out.Family("braid_memory_held_bytes", "gauge", "Memory that requests hold, by what it is for.");
  WriteNamed(server_status, "memoryBudget.holders", "holder", out);
  WriteSharding(server_status, "braid_sharded_operations_targeted_total",
                "Operations on a sharded collection that one shard could answer.", "targeted", out);
  WriteSharding(server_status, "braid_sharded_operations_scattered_total",
                "Operations on a sharded collection that asked every shard.", "scattered", out);
  WriteShards(server_status, "braid_shard_operations_total",
              "Reads, and searches of updates and deletes, that looked at a shard of a sharded collection.", "asked",
              out);
  WriteShards(server_status, "braid_shard_documents_written_total",
              "Documents of a sharded collection inserted, changed, removed or moved on a shard.", "written", out);
  out.Family("braid_store_read_only", "gauge", "1: the store takes no more writes, for example as the disk is full.");
  out.Sample(client::BoolOf(&server_status, "storageEngine.readOnly") ? 1 : 0);
}

}  // namespace braid::http
