#include "bench/runner.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/mutex.h"

namespace braid::bench {
namespace {

using Time = std::chrono::steady_clock;

// What the threads of one run share.
struct Shared {
  Shared(const RunOptions& run, uint64_t expected_inserts)
      : options(run), sequence(run.records), items_max(run.records + expected_inserts) {}

  const RunOptions& options;
  InsertSequence sequence;
  const uint64_t items_max;
  std::atomic<uint64_t> taken{0};
  std::atomic<bool> ended{false};
  Mutex mu;
  Status failure BRAID_GUARDED_BY(mu);

  void Fail(Status status) {
    ended = true;
    const MutexLock lock(mu);
    if (failure.ok()) failure = std::move(status);
  }
  /// How many operations may be done now, at most `wanted`; 0 ends the thread.
  uint64_t Take(uint64_t wanted) {
    if (ended.load(std::memory_order_relaxed) || (options.stop != nullptr && options.stop->load())) return 0;
    if (options.seconds > 0) return wanted;
    const uint64_t before = taken.fetch_add(wanted, std::memory_order_relaxed);
    return before >= options.operations ? 0 : std::min(wanted, options.operations - before);
  }
};

class Worker {
 public:
  Worker(Shared& shared, Session& session, uint64_t seed)
      : shared_(shared),
        session_(session),
        random_(seed),
        chooser_(shared.options.distribution, std::max<uint64_t>(shared.items_max, 1)) {}

  void Run(Time::time_point end) {
    const Workload& workload = *shared_.options.workload;
    const uint64_t request = workload.batches ? shared_.options.batch : 1;
    while (true) {
      const uint64_t n = shared_.Take(request);
      if (n == 0) return;
      const Operation operation = Choose(workload);
      Prepare(operation, n);
      const auto start = Time::now();
      if (shared_.options.seconds > 0 && start >= end) return;
      if (Status status = Execute(operation); !status.ok()) return shared_.Fail(std::move(status));
      Note(operation, n, Time::now() - start);
    }
  }

  Measurement measured;

 private:
  Operation Choose(const Workload& workload) {
    auto draw = static_cast<int>(random_.Below(100));
    int kind = 0;
    while (draw >= workload.shares[kind]) draw -= workload.shares[kind++];
    return static_cast<Operation>(kind);
  }

  // Keys and bytes are made before the clock starts.
  void Prepare(Operation operation, uint64_t n) {
    if (operation == Operation::kInsert) {
      inserts_.resize(n);
      uint64_t number = shared_.sequence.Take(n);
      for (Insert& insert : inserts_) {
        insert.number = number++;
        insert.record.Fill(random_);
      }
      return;
    }
    number_ = chooser_.Next(random_, shared_.sequence.count());
    key_ = Key(number_);
    field_ = static_cast<int>(random_.Below(kFields));
    if (operation == Operation::kScan) count_ = 1 + static_cast<int>(random_.Below(kScanMax));
    if (operation == Operation::kUpdate || operation == Operation::kReadModifyWrite) value_.Fill(random_);
  }

  Status Execute(Operation operation) {
    switch (operation) {
      case Operation::kRead: return session_.Read(key_.view());
      case Operation::kUpdate: return session_.Update(key_.view(), field_, value_);
      case Operation::kInsert: return session_.InsertBatch(inserts_);
      case Operation::kScan: return session_.Scan(key_.view(), count_);
      case Operation::kMerge: return session_.Merge(number_ / kGroupRecords);
      case Operation::kSearch: return session_.Search(number_);
      case Operation::kReadModifyWrite: break;
    }
    BRAID_CHECK_OK(session_.Read(key_.view()));
    return session_.Update(key_.view(), field_, value_);
  }

  void Note(Operation operation, uint64_t n, Time::duration took) {
    const auto nanos = static_cast<uint64_t>(std::chrono::nanoseconds(took).count());
    measured.operations += n;
    measured.latency.Record(nanos);
    measured.by_operation[static_cast<size_t>(operation)].Record(nanos);
    if (operation == Operation::kInsert) shared_.sequence.Acknowledge(inserts_.front().number, n);
  }

  Shared& shared_;
  Session& session_;
  Random random_;
  KeyChooser chooser_;
  uint64_t number_ = 0;
  Key key_{0};
  int field_ = 0;
  int count_ = 0;
  FieldValue value_{};
  std::vector<Insert> inserts_;
};

// How many records a run may add; the hot records are chosen among all of them.
uint64_t ExpectedInserts(const RunOptions& options) {
  const auto share = static_cast<uint64_t>(options.workload->shares[static_cast<int>(Operation::kInsert)]);
  const uint64_t operations = options.seconds > 0 ? options.records : options.operations;
  return operations * share * 2 / 100;
}

}  // namespace

Status Session::Merge(uint64_t) { return Status(Code::kCommandNotSupported, "this target has no indexes"); }
Status Session::Search(uint64_t) { return Status(Code::kCommandNotSupported, "this target has no queries"); }

Result<Measurement> RunWorkload(Target& target, const RunOptions& options) {
  Shared shared(options, ExpectedInserts(options));
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < options.threads; ++i) {
    BRAID_TRY(std::unique_ptr<Session> session, target.Connect());
    sessions.push_back(std::move(session));
    workers.push_back(
        std::make_unique<Worker>(shared, *sessions.back(), FnvHash64(options.seed) + static_cast<uint64_t>(i)));
  }
  BRAID_TRY(const Usage before, target.ReadUsage());
  const auto start = Time::now();
  const auto end = start + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (auto& worker : workers) threads.emplace_back([&worker, end] { worker->Run(end); });
  for (std::thread& thread : threads) thread.join();
  Measurement all;
  all.seconds = std::chrono::duration<double>(Time::now() - start).count();
  {
    const MutexLock lock(shared.mu);
    if (!shared.failure.ok()) return shared.failure;
  }
  BRAID_TRY(const Usage after, target.ReadUsage());
  for (const auto& worker : workers) {
    all.operations += worker->measured.operations;
    all.latency.Merge(worker->measured.latency);
    for (size_t i = 0; i < kOperations; ++i) all.by_operation[i].Merge(worker->measured.by_operation[i]);
  }
  if (before.cpu_micros && after.cpu_micros && all.operations > 0) {
    all.cpu_micros_per_operation =
        static_cast<double>(*after.cpu_micros - *before.cpu_micros) / static_cast<double>(all.operations);
  }
  all.resident_mb = after.resident_mb;
  if (before.syncs && after.syncs) all.syncs = *after.syncs - *before.syncs;
  return all;
}

}  // namespace braid::bench
