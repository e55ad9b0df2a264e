#include "services/settlement/views/follow.h"

#include <algorithm>
#include <future>

#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/plan.h"

namespace braid::settlement::views {
namespace {

// Where to read from: for each chain where the target is that is farthest behind.
Result<Positions> LowestFloor(Parts& parts, const std::vector<Target>& targets) {
  Positions lowest;
  BRAID_CHECK_OK(RunTransaction(parts.clients, parts.InTransaction(), [&](Transaction& transaction) {
    for (size_t i = 0; i < targets.size(); ++i) {
      BRAID_TRY(const Marks marks, Marks::Load(transaction, targets[i].collection, {}));
      if (i == 0) lowest = marks.floor();
      for (auto& [chain, position] : lowest) {
        if (SequenceOf(marks.floor(), chain) >= position.sequence) continue;
        const auto place = marks.floor().find(chain);
        position = place == marks.floor().end() ? Position() : place->second;
      }
    }
    return Status();
  }));
  std::erase_if(lowest, [](const auto& entry) { return entry.second.sequence == 0; });
  return lowest;
}

// One batch to all targets: a transaction for each worker and target, then all floors in one.
class BatchApplier {
 public:
  BatchApplier(Parts& parts, const FollowOptions& options, const Batch& batch)
      : parts_(parts), options_(options), batch_(batch) {}

  /// Takes targets that fail out of the list.
  Status Apply(std::vector<Target>& targets) {
    std::vector<std::unique_ptr<Plan>> plans(targets.size());
    parts_.workers.Run(targets.size(), [&](size_t i) { plans[i] = Plan::Make(targets[i].view, batch_); });
    const size_t workers = parts_.options.workers;
    std::vector<Status> statuses(targets.size() * workers);
    parts_.workers.Run(statuses.size(), [&](size_t i) {
      statuses[i] = ApplyPart(targets[i / workers], *plans[i / workers], i % workers);
    });
    Status failure;
    std::vector<Target> good;
    for (size_t i = 0; i < targets.size(); ++i) {
      const auto begin = statuses.begin() + static_cast<std::ptrdiff_t>(i * workers);
      const auto end = begin + static_cast<std::ptrdiff_t>(workers);
      const auto failed = std::find_if(begin, end, [](const Status& status) { return !status.ok(); });
      if (failed == end) {
        good.push_back(targets[i]);
        continue;
      }
      if (failure.ok()) failure = *failed;
      const bool replaced = failed->code() == Code::kConflictingOperationInProgress;
      if (!replaced && options_.on_failure) options_.on_failure(targets[i].view, *failed);
    }
    targets = std::move(good);
    const Status raised = RaiseFloors(targets);
    return failure.ok() ? raised : failure;
  }

 private:
  Status ApplyPart(const Target& target, const Plan& plan, size_t worker) {
    Marks::Partitions partitions;
    for (size_t i = worker; i < kPartitions; i += parts_.options.workers) partitions.insert(i);
    return RunTransaction(parts_.clients, parts_.InTransaction(), [&](Transaction& transaction) {
      return plan.Apply(transaction, target.collection, partitions);
    });
  }

  Status RaiseFloors(const std::vector<Target>& targets) {
    return RunTransaction(parts_.clients, parts_.InTransaction(), [&](Transaction& transaction) -> Status {
      for (const Target& target : targets) {
        BRAID_TRY(Marks marks, Marks::Load(transaction, target.collection, {}));
        BRAID_CHECK_OK(marks.RaiseFloor(transaction, batch_.ends));
      }
      return {};
    });
  }

  Parts& parts_;
  const FollowOptions& options_;
  const Batch& batch_;
};

}  // namespace

Status Parts::CheckStop() const {
  if (options.stop == nullptr || !options.stop->load()) return {};
  return Status(Code::kInterrupted, "interrupted; the next run goes on where this one ended");
}

Status FollowTargets(Parts& parts, std::vector<Target> targets, const FollowOptions& options, FollowReport& report) {
  if (targets.empty()) return {};
  BRAID_TRY(const Positions from, LowestFloor(parts, targets));
  BRAID_TRY(const std::vector<ChainHead> heads, parts.chains->Heads());  // after the marks, which must not be ahead
  LogReader reader(parts.clients, parts.chains->options(), parts.workers,
                   {.batch_records_max = parts.options.batch_records_max});
  BRAID_CHECK_OK(reader.Start(from, heads, options.stop_before));
  Status failure;
  BRAID_TRY(Batch batch, reader.Next());
  while (!batch.empty() && !targets.empty()) {
    BRAID_CHECK_OK(parts.CheckStop());
    // The next one is read while this one is applied.
    std::future<Result<Batch>> next = std::async(std::launch::async, [&] { return reader.Next(); });
    const Status applied = BatchApplier(parts, options, batch).Apply(targets);
    if (applied.ok()) {
      report.records += batch.records;
      report.payload_bytes += batch.payload_bytes;
      if (options.on_progress) options.on_progress(report.records);
    } else if (failure.ok()) {
      failure = applied;
    }
    BRAID_TRY(batch, next.get());
  }
  if (!failure.ok()) BRAID_CHECK_OK(parts.CheckStop());
  for (const auto& [chain, damage] : reader.damage()) report.damage.push_back(damage);
  return failure;
}

}  // namespace braid::settlement::views
