#include "http/live_sample.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "http/api.h"

namespace braid::http {
namespace {

using client::IntegerOf;
using std::chrono::steady_clock;

// An older sample is of no use for the rates of this second.
constexpr std::chrono::seconds kRecent{10};
// The largest part of the time that is spent on asking the services: a large log has many heads.
constexpr int kServicesShare = 20;

// A number of serverStatus that only grows, as a rate.
struct Rate {
  const char* name;
  const char* path;
};
constexpr Rate kRates[] = {
    {"inserts", "opcounters.insert"},
    {"queries", "opcounters.query"},
    {"updates", "opcounters.update"},
    {"deletes", "opcounters.delete"},
    {"getmores", "opcounters.getmore"},
    {"commands", "opcounters.command"},
    {"failed", "metrics.operation.failed"},
    {"conflicts", "metrics.operation.writeConflicts"},
    {"transactions_committed", "transactions.totalCommitted"},
    {"transactions_aborted", "transactions.totalAborted"},
    {"commits", "rocksdb.commits"},
    {"syncs", "rocksdb.syncs"},
    {"written_bytes", "rocksdb.bytesWritten"},
    {"received_bytes", "network.bytesIn"},
    {"sent_bytes", "network.bytesOut"},
};

// A number as it is.
constexpr Rate kLevels[] = {
    {"uptime_ms", "uptimeMillis"},
    {"shards", "braid.shards"},
    {"connections", "connections.current"},
    {"cursors", "metrics.cursor.open.total"},
    {"transactions_open", "transactions.currentOpen"},
    {"memory_limit_bytes", "memoryBudget.limitBytes"},
    {"memory_used_bytes", "memoryBudget.usedBytes"},
    {"memory_refused", "memoryBudget.refused"},
    {"cache_bytes", "rocksdb.cacheBytesUsed"},
    {"memtable_bytes", "rocksdb.memtableBytes"},
    {"disk_bytes", "rocksdb.diskBytes"},
    {"resident_mb", "mem.resident"},
};

// The document or array at the path, to be read while `from` lives; false if there is none.
bool FindDocument(const bson_t& from, const char* path, bson_t& found) {
  bson_iter_t start;
  bson_iter_t field;
  if (!bson_iter_init(&start, &from) || !bson_iter_find_descendant(&start, path, &field)) return false;
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  if (BSON_ITER_HOLDS_DOCUMENT(&field)) {
    bson_iter_document(&field, &length, &bytes);
  } else if (BSON_ITER_HOLDS_ARRAY(&field)) {
    bson_iter_array(&field, &length, &bytes);
  } else {
    return false;
  }
  return bson_init_static(&found, bytes, length);
}

std::vector<LatencyBucket> BucketsOf(const bson_t& status, const char* kind) {
  std::vector<LatencyBucket> buckets;
  bson_t histogram;
  if (!FindDocument(status, StrCat("opLatencies.", kind, ".histogram").c_str(), histogram)) return buckets;
  bson_iter_t row;
  if (!bson_iter_init(&row, &histogram)) return buckets;
  while (bson_iter_next(&row)) {
    const std::string key = bson_iter_key(&row);
    buckets.push_back({.lower_micros = IntegerOf(&histogram, (key + ".micros").c_str()),
                       .count = IntegerOf(&histogram, (key + ".count").c_str())});
  }
  return buckets;
}

int64_t CpuMicros(const bson_t& status) {
  return IntegerOf(&status, "extra_info.user_time_us") + IntegerOf(&status, "extra_info.system_time_us");
}

void AppendCopy(const bson_t& status, const char* path, const char* name, client::Bson& json, bool is_array) {
  bson_t found;
  if (!FindDocument(status, path, found)) return;
  if (is_array) {
    bson_append_array(json.get(), name, -1, &found);
  } else {
    bson_append_document(json.get(), name, -1, &found);
  }
}

}  // namespace

int64_t PercentileOf(const std::vector<LatencyBucket>& buckets, double fraction) {
  int64_t total = 0;
  for (const LatencyBucket& bucket : buckets) total += bucket.count;
  if (total == 0) return 0;
  const auto wanted = static_cast<int64_t>(std::ceil(static_cast<double>(total) * fraction));
  int64_t seen = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    seen += buckets[i].count;
    if (seen >= wanted) return buckets[std::min(i + 1, buckets.size() - 1)].lower_micros;
  }
  return buckets.back().lower_micros;
}

void LiveSampler::AppendRates(const bson_t& status, client::Bson& json) {
  client::Bson rates;
  for (const Rate& rate : kRates) {
    const int64_t since = before_ == nullptr ? 0 : IntegerOf(&status, rate.path) - IntegerOf(before_.get(), rate.path);
    rates.Integer(rate.name, seconds_ > 0 ? std::llround(static_cast<double>(since) / seconds_) : 0);
  }
  json.Document("per_second", rates);
  int64_t cpu = 0;
  if (seconds_ > 0) {
    cpu = std::llround(static_cast<double>(CpuMicros(status) - CpuMicros(*before_)) / seconds_ / 10'000);
  }
  json.Integer("cpu_percent", cpu);
}

void LiveSampler::AppendLatencies(const bson_t& status, client::Bson& json) {
  client::Bson latencies;
  for (const char* kind : {"reads", "writes", "commands"}) {
    std::vector<LatencyBucket> buckets = BucketsOf(status, kind);
    const std::vector<LatencyBucket> before =
        before_ == nullptr ? std::vector<LatencyBucket>() : BucketsOf(*before_, kind);
    for (size_t i = 0; i < buckets.size(); ++i) {
      buckets[i].count = i < before.size() ? buckets[i].count - before[i].count : 0;
    }
    client::Bson percentiles;
    percentiles.Integer("p50", PercentileOf(buckets, 0.50))
        .Integer("p95", PercentileOf(buckets, 0.95))
        .Integer("p99", PercentileOf(buckets, 0.99));
    latencies.Document(kind, percentiles);
  }
  json.Document("latency_micros", latencies);
}

// Asked less often if the answers take long.
std::string LiveSampler::ServicesJson() {
  const auto began = steady_clock::now();
  if (began < services_due_) return services_;
  services_ = LiveServices(api_);
  services_due_ = began + (steady_clock::now() - began) * kServicesShare;
  return services_;
}

std::string LiveSampler::Sample() {
  client::Bson command;
  BSON_APPEND_INT32(command.get(), "serverStatus", 1);
  Result<client::BsonPtr> asked = client::RunCommand(api_.clients().Acquire().get(), "admin", command.get());
  if (!asked.ok()) return StrCat(R"({"error": )", QuotedJson(asked.error().message()), "}");
  const auto now = steady_clock::now();
  if (now - sampled_at_ > kRecent) before_ = nullptr;
  seconds_ = before_ == nullptr ? 0 : std::chrono::duration<double>(now - sampled_at_).count();
  const bson_t& status = **asked;
  client::Bson json;
  json.Integer("time", client::DateOf(&status, "localTime").value_or(0));
  json.Integer("milliseconds", std::llround(seconds_ * 1000));
  AppendRates(status, json);
  AppendLatencies(status, json);
  for (const Rate& level : kLevels) json.Integer(level.name, IntegerOf(&status, level.path));
  json.Integer("http_connections", static_cast<int64_t>(api_.connections().connections));
  json.Text("version", client::TextOf(&status, "braid.version"));
  json.Bool("read_only", client::BoolOf(&status, "storageEngine.readOnly"));
  AppendCopy(status, "memoryBudget.holders", "memory_holders", json, false);
  AppendCopy(status, "shardingStatistics.collections", "sharded", json, true);
  before_ = *std::move(asked);
  sampled_at_ = now;
  std::string text = client::ToJson(json);
  text.resize(text.rfind('}'));
  return StrCat(text, R"(, "services": )", ServicesJson(), "}");
}

}  // namespace braid::http
