#include "services/settlement/views/follow.h"

#include <algorithm>
#include <deque>
#include <future>
#include <utility>

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

// A target with the batches that are being applied to it: one after the other, however far the other targets are. A
// batch is applied by one transaction per worker and at least one, and the floor is raised: by the same transaction if
// there is only one, so that the disk is waited for once. A few large transactions are faster than many small ones,
// because neighbouring documents are written together.
class TargetApplier {
 public:
  TargetApplier(Core& core, Target target, size_t shares, std::unique_ptr<SeenIds> seen)
      : core_(core), target_(std::move(target)), shares_(shares) {
    BRAID_ASSERT(shares_ >= 1 && shares_ <= kPartitions);
    memory_.seen = std::move(seen);
  }

  View view() const { return target_.view; }

  /// Begins to apply the batch as soon as the one before is applied; some views take several together. The result is
  /// the first failure of all batches so far: after it nothing more is applied. The applier must outlive the work.
  std::shared_future<Status> Start(std::shared_ptr<const Batch> batch) {
    return Continue([this, batch = std::move(batch)] {
      if (changes_ == nullptr) changes_ = ViewChanges::Make(target_.view, memory_);
      changes_->Add(batch);
      return changes_->full() ? Apply() : Status();
    });
  }
  /// Applies whatever is waiting for a further batch.
  std::shared_future<Status> Finish() {
    return Continue([this] { return changes_ == nullptr ? Status() : Apply(); });
  }

 private:
  template <typename Work>
  std::shared_future<Status> Continue(const Work& work) {
    latest_ = std::async(std::launch::async, [work, before = std::move(latest_)]() mutable {
                const std::shared_future<Status> earlier = std::move(before);  // it ends with this call
                BRAID_CHECK_OK(earlier.valid() ? earlier.get() : Status());
                return Status(work());
              }).share();
    return latest_;
  }

  Status Apply() {
    const std::unique_ptr<ViewChanges> changes = std::move(changes_);
    BRAID_ASSERT(!changes->empty());
    const auto raise_floor = [&](Transaction& transaction) -> Status {
      BRAID_TRY(Marks marks, Marks::LoadForChange(transaction, target_.collection, {}));
      return marks.RaiseFloor(transaction, changes->ends());
    };
    std::vector<Status> statuses(shares_);
    core_.workers.Run(shares_, [&](size_t share) {
      Marks::Partitions partitions;
      for (size_t i = share; i < kPartitions; i += shares_) partitions.insert(i);
      statuses[share] = RunTransaction(core_.clients, core_.InTransaction(), [&](Transaction& transaction) -> Status {
        BRAID_CHECK_OK(changes->Apply(transaction, target_.collection, partitions));
        return shares_ == 1 ? raise_floor(transaction) : Status();
      });
      if (statuses[share].ok()) changes->Committed(partitions);
    });
    for (const Status& status : statuses) BRAID_CHECK_OK(status);
    return shares_ == 1 ? Status() : RunTransaction(core_.clients, core_.InTransaction(), raise_floor);
  }

  Core& core_;
  const Target target_;
  const size_t shares_;
  // Of the work, of which there is one at a time.
  RowMemory memory_;
  std::unique_ptr<ViewChanges> changes_;  // that wait for a further batch; null if there are none
  std::shared_future<Status> latest_;
};

// Gives each batch to all targets. While one is read, the targets work on those before it.
class Replay {
 public:
  /// `ids`: how many a view may have, if the log is read from its first record on; 0 otherwise.
  Replay(Core& core, std::vector<Target> targets, int64_t ids, const FollowOptions& options, FollowReport& report)
      : core_(core), options_(options), report_(report) {
    const size_t shares = std::max<size_t>(1, core.options.workers / std::max<size_t>(1, targets.size()));
    for (Target& target : targets) {
      appliers_.emplace_back(core, std::move(target), shares, ids > 0 ? std::make_unique<SeenIds>(ids) : nullptr);
    }
    for (TargetApplier& applier : appliers_) good_.push_back(&applier);
  }

  /// The first failure. Targets that fail are left out from then on.
  Status Run(LogReader& reader) {
    while (!good_.empty()) {
      BRAID_CHECK_OK(core_.CheckStop());
      BRAID_TRY(Batch batch, reader.Next());
      if (batch.empty()) break;
      Start(std::make_shared<const Batch>(std::move(batch)));
      if (rounds_.size() > kRoundsAhead) FinishOldest();
    }
    Start(nullptr);
    while (!rounds_.empty()) FinishOldest();
    return failure_;
  }

 private:
  // Beside the batch that is read. With two, a target that is done with one need not wait for the others.
  static constexpr size_t kRoundsAhead = 2;
  struct Round {
    Round() = default;
    Round(const Round&) = delete;
    ~Round() {
      for (const auto& [applier, applied] : work) applied.wait();
    }
    std::shared_ptr<const Batch> batch;  // null: the end
    std::vector<std::pair<TargetApplier*, std::shared_future<Status>>> work;
  };

  void Start(std::shared_ptr<const Batch> batch) {
    Round& round = rounds_.emplace_back();
    round.batch = std::move(batch);
    for (TargetApplier* const applier : good_) {
      round.work.emplace_back(applier, round.batch == nullptr ? applier->Finish() : applier->Start(round.batch));
    }
  }

  void FinishOldest() {
    const Round& round = rounds_.front();
    bool all_applied = true;
    for (const auto& [applier, applied] : round.work) {
      const Status& status = applied.get();
      // Not reported once more for a batch that had begun meanwhile.
      if (status.ok() || std::erase(good_, applier) == 0) continue;
      all_applied = false;
      if (failure_.ok()) failure_ = status;
      const bool replaced = status.code() == Code::kConflictingOperationInProgress;
      if (!replaced && options_.on_failure) options_.on_failure(applier->view(), status);
    }
    if (all_applied && round.batch != nullptr) {
      report_.records += round.batch->records;
      report_.payload_bytes += round.batch->payload_bytes;
      if (options_.on_progress) options_.on_progress(report_.records);
    }
    rounds_.pop_front();
  }

  Core& core_;
  const FollowOptions& options_;
  FollowReport& report_;
  std::deque<TargetApplier> appliers_;
  std::vector<TargetApplier*> good_;  // those that have not failed
  std::deque<Round> rounds_;          // that were begun, the oldest first
  Status failure_;
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
  const int64_t ids = from.empty() ? expected : 0;
  const Status failure = Replay(core, std::move(targets), ids, options, report).Run(reader);
  if (!failure.ok()) BRAID_CHECK_OK(core.CheckStop());
  for (const auto& [chain, damage] : reader.damage()) report.damage.push_back(damage);
  return failure;
}

}  // namespace braid::settlement::views
