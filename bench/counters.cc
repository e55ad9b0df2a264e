#include "bench/counters.h"

#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/staking/audit.h"
#include "services/staking/generator.h"
#include "services/staking/ingestor.h"

namespace braid::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Of this process and, if the store is a server that says so, of that.
struct Cpu {
  int64_t own = 0;
  std::optional<int64_t> server;
};

Result<Cpu> ReadCpu(Clients& clients) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
  Cpu cpu{.own = micros(usage.ru_utime) + micros(usage.ru_stime)};
  client::Bson command;
  command.Integer("serverStatus", 1);
  BRAID_TRY(const client::BsonPtr reply, client::RunCommand(clients.Acquire().get(), "admin", command.get()));
  const int64_t server = client::IntegerOf(reply.get(), "extra_info.user_time_us") +
                         client::IntegerOf(reply.get(), "extra_info.system_time_us");
  // In this process the engine's figures are our own.
  if (server > 0 && client::IntegerOf(reply.get(), "pid") != getpid()) cpu.server = server;
  return cpu;
}

Status Drop(Clients& clients, const std::string& database) {
  client::Bson command;
  command.Integer("dropDatabase", 1);
  return client::RunCommand(clients.Acquire().get(), database.c_str(), command.get()).status();
}

std::vector<staking::Event> Generate(const CountersOptions& options, int duplicate_percent) {
  staking::Generator generator(
      {.seed = options.seed, .duplicate_percent = static_cast<uint32_t>(duplicate_percent), .early_percent = 0});
  std::vector<staking::Event> events;
  events.reserve(options.events);
  for (uint64_t i = 0; i < options.events; ++i) events.push_back(generator.Next());
  return events;
}

// One transaction for each event. Events of one delegation stay with one writer, in their order.
class OneByOne {
 public:
  OneByOne(Clients& clients, const CountersOptions& options, const staking::Tables& tables, bool random_shard)
      : clients_(clients),
        options_(options),
        tables_(tables),
        random_shard_(random_shard),
        end_(Clock::now() + std::chrono::microseconds(static_cast<int64_t>(options.seconds_max * 1e6))) {}

  Status Run(const std::vector<staking::Event>& events, int writers, CountersRow& row) {
    std::vector<Status> statuses(static_cast<size_t>(writers));
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(writers));
    for (int writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&, writer] { statuses[static_cast<size_t>(writer)] = Write(events, writer, writers); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& status : statuses) BRAID_CHECK_OK(status);
    row.events = done_;
    row.retries = retries_;
    return {};
  }

 private:
  Status Write(const std::vector<staking::Event>& events, int writer, int writers) {
    Random random(options_.seed + static_cast<uint64_t>(writer));
    const std::hash<std::string> hash;
    const TransactionOptions how{.database = options_.database, .stop = options_.stop, .retries = &retries_};
    std::vector<staking::Conflict> conflicts;  // made-up events have none
    for (const staking::Event& event : events) {
      if (hash(event.hash) % static_cast<size_t>(writers) != static_cast<size_t>(writer)) continue;
      if (Clock::now() >= end_ || options_.stop->load()) return {};
      const auto shard = random_shard_ ? static_cast<uint32_t>(random.Below(options_.shard_count)) : 0;
      const auto apply = event.state == staking::State::kActive ? staking::ApplyActive : staking::ApplyUnbonded;
      BRAID_CHECK_OK(RunTransaction(clients_, how, [&](Transaction& transaction) {
        return apply(transaction, tables_, shard, {&event, 1}, conflicts).status();
      }));
      ++done_;
    }
    return {};
  }

  Clients& clients_;
  const CountersOptions& options_;
  const staking::Tables& tables_;
  const bool random_shard_;
  const Clock::time_point end_;
  std::atomic<uint64_t> done_ = 0;
  std::atomic<uint64_t> retries_ = 0;
};

Status InBatches(Clients& clients, const CountersOptions& options, const std::vector<staking::Event>& events,
                 CountersRow& row) {
  std::vector<std::string> lines;
  lines.reserve(events.size());
  for (const staking::Event& event : events) lines.push_back(ToJson(event));
  staking::IngestOptions how{.tables = {.database = options.database, .shard_count = options.shard_count},
                             .workers = static_cast<size_t>(row.writers)};
  how.stop = options.stop;
  BRAID_TRY(const std::unique_ptr<staking::Ingestor> ingestor, staking::Ingestor::Open(clients, how));
  const std::vector<std::string_view> all(lines.begin(), lines.end());
  const size_t chunk = how.workers * how.batch_events_max;
  const auto start = Clock::now();
  BRAID_TRY(const Cpu before, ReadCpu(clients));
  for (size_t begin = 0; begin < all.size() && !options.stop->load(); begin += chunk) {
    const size_t count = std::min(chunk, all.size() - begin);
    BRAID_CHECK_OK(ingestor->Apply({all.data() + begin, count}));
    row.events += count;
  }
  row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  BRAID_TRY(const Cpu after, ReadCpu(clients));
  row.retries = ingestor->retries();
  row.server_cpu = after.server.has_value();
  row.cpu_micros = static_cast<double>(after.own - before.own + after.server.value_or(0) - before.server.value_or(0));
  return {};
}

Status Single(Clients& clients, const CountersOptions& options, const staking::Tables& tables,
              const std::vector<staking::Event>& events, CountersRow& row) {
  OneByOne run(clients, options, tables, row.way == CounterWay::kSeed);
  BRAID_TRY(const Cpu before, ReadCpu(clients));
  const auto start = Clock::now();
  BRAID_CHECK_OK(run.Run(events, row.writers, row));
  row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  BRAID_TRY(const Cpu after, ReadCpu(clients));
  row.server_cpu = after.server.has_value();
  row.cpu_micros = static_cast<double>(after.own - before.own + after.server.value_or(0) - before.server.value_or(0));
  return {};
}

Result<CountersRow> RunOne(Clients& clients, const CountersOptions& options, const std::vector<staking::Event>& events,
                           CountersRow row) {
  BRAID_CHECK_OK(Drop(clients, options.database));
  // A hot counter is one without logical shards.
  const uint32_t shards = row.way == CounterWay::kHot ? 1 : options.shard_count;
  BRAID_TRY(const std::unique_ptr<staking::Tables> tables,
            staking::Tables::Open(clients, {.database = options.database, .shard_count = shards}));
  if (row.way == CounterWay::kBraid) {
    BRAID_CHECK_OK(InBatches(clients, options, events, row));
  } else {
    BRAID_CHECK_OK(Single(clients, options, *tables, events, row));
  }
  if (row.events > 0) row.cpu_micros /= static_cast<double>(row.events);
  BRAID_TRY(const staking::AuditReport report, staking::Audit(clients, *tables, false));
  if (!report.ok()) {
    return Status(Code::kInternalError, StrCat("after the run '", NameOf(row.way),
                                               "' the totals are wrong: ", report.differences_total, " differences"));
  }
  row.audited = true;
  BRAID_CHECK_OK(Drop(clients, options.database));
  return row;
}

}  // namespace

const char* NameOf(CounterWay way) {
  switch (way) {
    case CounterWay::kHot: return "one hot counter";
    case CounterWay::kSeed: return "random shard";
    case CounterWay::kBraid: return "owned, batched";
  }
  return "";
}

Result<std::vector<CountersRow>> RunCounters(Clients& clients, const CountersOptions& options,
                                             const std::function<void(const CountersRow&)>& on_row) {
  std::vector<CountersRow> rows;
  for (const int percent : options.duplicate_percents) {
    const std::vector<staking::Event> events = Generate(options, percent);
    std::vector<CountersRow> runs;
    for (const CounterWay way : {CounterWay::kHot, CounterWay::kSeed}) {
      for (const int writers : options.writers) {
        runs.push_back({.way = way, .writers = writers, .duplicate_percent = percent});
      }
    }
    runs.push_back({.way = CounterWay::kBraid, .writers = options.workers, .duplicate_percent = percent});
    for (const CountersRow& run : runs) {
      if (options.stop->load()) return rows;
      BRAID_TRY(const CountersRow row, RunOne(clients, options, events, run));
      on_row(rows.emplace_back(row));
    }
  }
  return rows;
}

}  // namespace braid::bench
