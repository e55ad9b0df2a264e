#include "services/settlement/views/follow.h"

#include <algorithm>
#include <future>

#include "base/assert.h"
#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/view_changes.h"

namespace braid::settlement::views {
namespace {

// The start position: for each chain that of the target that is farthest behind.
Result<Positions> LowestFloor(Core& core, const std::vector<Target>& targets) {
  Positions lowest;
  BRAID_CHECK_OK(RunTransaction(core.clients, core.InTransaction(), [&](Transaction& transaction) {
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

// Applies one batch to all targets: one transaction per worker and at least one per target, then one for all floors. A
// few large transactions are faster than many small ones, because neighbouring documents are written together.
class BatchApplier {
 public:
  BatchApplier(Core& core, const FollowOptions& options, const Batch& batch)
      : core_(core), options_(options), batch_(batch) {}

  /// Takes targets that fail out of the list.
  Status Apply(std::vector<Target>& targets) {
    std::vector<std::unique_ptr<ViewChanges>> changes(targets.size());
    core_.workers.Run(targets.size(), [&](size_t i) {
      changes[i] = ViewChanges::Make(targets[i].view, batch_, targets[i].seen.get());
    });
    BRAID_ASSERT(std::ranges::all_of(changes, [](const auto& change) { return change != nullptr; }));
    const size_t shares = std::max<size_t>(1, core_.options.workers / std::max<size_t>(1, targets.size()));
    std::vector<Status> statuses(targets.size() * shares);
    core_.workers.Run(statuses.size(), [&](size_t i) {
      statuses[i] = ApplyShare(targets[i / shares], *changes[i / shares], {.number = i % shares, .of = shares});
    });
    Status failure;
    std::vector<Target> good;
    for (size_t i = 0; i < targets.size(); ++i) {
      const auto begin = statuses.begin() + static_cast<std::ptrdiff_t>(i * shares);
      const auto end = begin + static_cast<std::ptrdiff_t>(shares);
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
  struct Share {
    size_t number;
    size_t of;
  };
  Status ApplyShare(const Target& target, const ViewChanges& changes, const Share& share) {
    BRAID_ASSERT(share.number < share.of);
    Marks::Partitions partitions;
    for (size_t i = share.number; i < kPartitions; i += share.of) partitions.insert(i);
    return RunTransaction(core_.clients, core_.InTransaction(), [&](Transaction& transaction) {
      return changes.Apply(transaction, target.collection, partitions);
    });
  }

  Status RaiseFloors(const std::vector<Target>& targets) {
    return RunTransaction(core_.clients, core_.InTransaction(), [&](Transaction& transaction) -> Status {
      for (const Target& target : targets) {
        BRAID_TRY(Marks marks, Marks::LoadForChange(transaction, target.collection, {}));
        BRAID_CHECK_OK(marks.RaiseFloor(transaction, batch_.ends));
      }
      return {};
    });
  }

  Core& core_;
  const FollowOptions& options_;
  const Batch& batch_;
};

}  // namespace

Status Core::CheckStop() const {
  if (options.stop == nullptr || !options.stop->load()) return {};
  return Status(Code::kInterrupted, "interrupted; the next run continues where this one ended");
}

Status FollowTargets(Core& core, std::vector<Target> targets, const FollowOptions& options, FollowReport& report) {
  if (targets.empty()) return {};
  BRAID_ASSERT(core.chains != nullptr);
  BRAID_TRY(const Positions from, LowestFloor(core, targets));
  BRAID_TRY(const std::vector<ChainHead> heads, core.chains->Heads());  // read after the marks, which must not be ahead
  LogReader reader(core.clients, core.chains->options(), core.workers,
                   {.batch_records_max = core.options.batch_records_max});
  BRAID_CHECK_OK(reader.Start(from, heads, options.stop_before));
  int64_t expected = 0;
  for (const ChainHead& head : heads) expected += head.records;
  for (Target& target : targets) target.seen = from.empty() ? std::make_shared<SeenIds>(expected) : nullptr;
  Status failure;
  BRAID_TRY(Batch batch, reader.Next());
  while (!batch.empty() && !targets.empty()) {
    BRAID_CHECK_OK(core.CheckStop());
    // The next one is read while this one is applied.
    std::future<Result<Batch>> next = std::async(std::launch::async, [&] { return reader.Next(); });
    const Status applied = BatchApplier(core, options, batch).Apply(targets);
    if (applied.ok()) {
      report.records += batch.records;
      report.payload_bytes += batch.payload_bytes;
      if (options.on_progress) options.on_progress(report.records);
    } else if (failure.ok()) {
      failure = applied;
    }
    BRAID_TRY(batch, next.get());
  }
  if (!failure.ok()) BRAID_CHECK_OK(core.CheckStop());
  for (const auto& [chain, damage] : reader.damage()) report.damage.push_back(damage);
  return failure;
}

}  // namespace braid::settlement::views
