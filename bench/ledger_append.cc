// One run of appends to chains: a source that keeps so many records in flight, writers, and a verification at the end.
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "base/strings.h"
#include "bench/ledger_runs.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Submits records and counts the answers.
class Source {
 public:
  Source(ChainWriters& writers, const LedgerOptions& options, uint64_t in_flight)
      : writers_(writers), options_(options), window_(in_flight) {}

  /// Returns when all are answered.
  Status Run(const std::vector<ChainRecord>& records) {
    const auto end = Clock::now() + std::chrono::microseconds(static_cast<int64_t>(options_.seconds_max * 1e6));
    for (const ChainRecord& record : records) {
      window_.Enter();
      if (failed_ || Clock::now() >= end || options_.stop->load()) break;
      const Clock::time_point since = Clock::now();
      BRAID_CHECK_OK(writers_.Submit(record, [this, since](const Appended& appended) { Answer(since, appended); }));
    }
    writers_.Flush();
    return failure_;
  }

  const Histogram& micros() const { return micros_; }

 private:
  void Answer(Clock::time_point since, const Appended& appended) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since);
    window_.Leave([&] {
      micros_.Record(static_cast<uint64_t>(took.count()));
      if (!appended.status.ok() && failure_.ok()) failure_ = appended.status;
      if (appended.duplicate && failure_.ok())
        failure_ = Status(Code::kInternalError, "a new record was there already");
      failed_ = !failure_.ok();
    });
  }

  ChainWriters& writers_;
  const LedgerOptions& options_;
  Window window_;
  std::atomic<bool> failed_ = false;
  Histogram micros_;  // only under the window's lock, as is the next, until all are answered
  Status failure_;
};

Status VerifyRun(Chains& chains, LedgerRow& row) {
  BRAID_TRY(const VerifyReport report, chains.Verify({}));
  if (report.ok() && report.records == static_cast<int64_t>(row.records)) {
    row.verified = true;
    row.chains = static_cast<size_t>(report.chains);
    return {};
  }
  return Status(Code::kInternalError,
                StrCat("after a run of '", NameOf(*row.spread), "' with ", row.writers, " writers: ", row.records,
                       " records were acknowledged, ", report.records, " are there; ", report.damaged, " damaged",
                       report.damage.empty() ? "" : StrCat(", first: ", report.damage.front().what)));
}

}  // namespace

Status DropDatabase(Clients& clients, const std::string& database) {
  client::Bson command;
  command.Integer("dropDatabase", 1);
  return client::RunCommand(clients.Acquire().get(), database.c_str(), command.get()).status();
}

Result<std::optional<int64_t>> ServerCpuMicros(Clients& clients) {
  client::Bson command;
  command.Integer("serverStatus", 1);
  BRAID_TRY(const client::BsonPtr reply, client::RunCommand(clients.Acquire().get(), "admin", command.get()));
  const int64_t micros = client::IntegerOf(reply.get(), "extra_info.user_time_us") +
                         client::IntegerOf(reply.get(), "extra_info.system_time_us");
  const bool own = client::IntegerOf(reply.get(), "pid") == getpid();
  return micros > 0 && !own ? std::optional(micros) : std::nullopt;
}

Status AppendToChains(Clients& clients, const LedgerOptions& options, const std::vector<ChainRecord>& records,
                      LedgerRow& row) {
  BRAID_TRY(const std::unique_ptr<Chains> chains, Chains::Open(clients, {.database = options.database}));
  ChainWritersOptions how{.writers = row.writers, .batch_records_max = row.batch};
  if (row.spread == Spread::kGlobal) how.hot_share = 2;  // one writer is meant, not one more for the hot chain
  row.in_flight = options.in_flight_of(row.writers, row.batch);
  BRAID_TRY(const std::unique_ptr<ChainWriters> writers, ChainWriters::Start(*chains, how));
  Source source(*writers, options, row.in_flight);
  BRAID_TRY(const std::optional<int64_t> server_before, ServerCpuMicros(clients));
  const int64_t own_before = OwnCpuMicros();
  const Clock::time_point start = Clock::now();
  const Status status = source.Run(records);
  row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const int64_t own_after = OwnCpuMicros();
  BRAID_TRY(const std::optional<int64_t> server_after, ServerCpuMicros(clients));
  BRAID_CHECK_OK(writers->Stop());
  BRAID_CHECK_OK(status);

  row.records = source.micros().count();
  row.server_cpu = server_after.has_value();
  const int64_t cpu = own_after - own_before + server_after.value_or(0) - server_before.value_or(0);
  int64_t commits = 0;
  for (const ChainWriterFigures& figures : writers->Figures()) commits += figures.commits;
  if (row.records > 0) row.cpu_micros = static_cast<double>(cpu) / static_cast<double>(row.records);
  if (commits > 0) row.commit_records = static_cast<double>(row.records) / static_cast<double>(commits);
  SetLatencies(source.micros(), row);
  return VerifyRun(*chains, row);
}

}  // namespace braid::bench
