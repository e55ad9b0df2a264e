#include "services/settlement/views/views.h"

#include <algorithm>

#include "base/strings.h"
#include "services/settlement/views/follow.h"

namespace braid::settlement {
namespace {

using views::Generation;
using views::Target;

// The reason why a view is stuck is kept where `stats` finds it, until the view continues.
Status KeepStuck(views::Core& core, const Target& target, const std::string& stuck) {
  return RunTransaction(core.clients, core.InTransaction(), [&](Transaction& transaction) -> Status {
    BRAID_TRY(Generation now, views::GetGeneration(transaction, target.view));
    if (now.number != target.generation || now.stuck == stuck) return {};
    now.stuck = stuck;
    return views::StoreGeneration(transaction, target.view, now, false);
  });
}

ViewProgress Compare(View view, const views::Generation& now, const views::Positions& floor,
                     std::span<const ChainHead> heads) {
  ViewProgress progress{.view = view,
                        .collection = now.collection,
                        .generation = now.number,
                        .has_times = now.has_times,
                        .moving = !now.moving.empty(),
                        .stuck = now.stuck};
  for (const auto& [chain, position] : floor) {
    progress.applied_seq = std::max(progress.applied_seq, position.sequence);
    progress.records += position.records;
  }
  for (const ChainHead& head : heads) {
    const auto place = floor.find(head.chain);
    const views::Position position = place == floor.end() ? views::Position() : place->second;
    // The heads are older than the floor, which may have passed them.
    if (position.sequence < head.sequence) progress.behind += head.records - position.records;
  }
  return progress;
}

Result<std::vector<ViewProgress>> ReadAll(Clients& clients, const TransactionOptions& options,
                                          std::span<const ChainHead> heads) {
  std::vector<ViewProgress> all;
  BRAID_CHECK_OK(RunTransaction(clients, options, [&](Transaction& transaction) -> Status {
    all.clear();
    for (const View view : kViews) {
      BRAID_TRY(const auto now, views::FindGeneration(transaction, view));
      if (!now) continue;
      BRAID_TRY(const views::Marks marks, views::Marks::Load(transaction, now->collection, {}));
      all.push_back(Compare(view, *now, marks.floor(), heads));
    }
    return {};
  }));
  return all;
}

}  // namespace

const char* NameOf(View view) {
  switch (view) {
    case View::kBalances: return "balances";
    case View::kTrades: return "trades";
    case View::kOrders: return "orders";
  }
  return "";
}

Status ViewsOptions::Validate() const {
  if (database.empty() || log.empty()) return Status(Code::kBadValue, "views need a database and a log");
  if (workers < 1 || workers > views::kPartitions) {
    return Status(Code::kBadValue, StrCat("workers is ", workers, ", not in 1..", views::kPartitions));
  }
  if (batch_records_max < 1 || batch_records_max > 100'000) {
    return Status(Code::kBadValue, StrCat("batch_records_max is ", batch_records_max, ", not in 1..100000"));
  }
  return {};
}

Views::Views(std::unique_ptr<views::Core> core) : core_(std::move(core)) {}
Views::~Views() = default;
Chains& Views::chains() { return *core_->chains; }

Result<std::unique_ptr<Views>> Views::Open(Clients& clients, const ViewsOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  auto core = std::make_unique<views::Core>(clients, options);
  ChainsOptions chains;
  chains.database = options.database;
  chains.log = options.log;
  chains.unique_sequences = true;
  BRAID_TRY(core->chains, Chains::Open(clients, chains));
  for (const View view : kViews) BRAID_CHECK_OK(views::CreateView(clients, options.database, view));
  return std::unique_ptr<Views>(new Views(std::move(core)));
}

Result<FollowReport> Views::Follow(const FollowOptions& chosen) {
  constexpr int kTriesMax = 10;
  std::map<View, std::string> stuck;
  FollowOptions options = chosen;
  options.on_failure = [&](View view, const Status& why) {
    if (why.code() == Code::kOverflow) stuck[view] = why.message();
    if (chosen.on_failure) chosen.on_failure(view, why);
  };
  FollowReport report;
  for (int tries = 1;; ++tries) {
    for (const View view : kViews) BRAID_CHECK_OK(views::FinishMove(core_->clients, core_->options.database, view));
    std::vector<Target> targets;
    std::vector<std::string> was_stuck;
    BRAID_CHECK_OK(RunTransaction(core_->clients, core_->InTransaction(), [&](Transaction& transaction) -> Status {
      targets.clear();
      was_stuck.clear();
      for (const View view : kViews) {
        if (options.without.contains(view)) continue;
        BRAID_TRY(Generation now, views::GetGeneration(transaction, view));
        targets.push_back({.view = view, .generation = now.number, .collection = std::move(now.collection)});
        was_stuck.push_back(std::move(now.stuck));
      }
      return {};
    }));
    const Status status = views::FollowTargets(*core_, targets, options, report);
    for (size_t i = 0; i < targets.size() && (status.ok() || !stuck.empty()); ++i) {
      const std::string& why = stuck[targets[i].view];
      if (why != was_stuck[i]) BRAID_CHECK_OK(KeepStuck(*core_, targets[i], why));
    }
    if (status.ok()) return report;
    // A rebuilt view has replaced one of ours: repeat with the new one.
    if (status.code() != Code::kConflictingOperationInProgress || tries == kTriesMax) return status;
    report.damage.clear();
  }
}

Status Views::Read(View view, const std::function<Status(const std::string& collection)>& read) {
  int64_t generation = 0;
  Status status;
  for (;;) {
    BRAID_CHECK_OK(views::FinishMove(core_->clients, core_->options.database, view));
    BRAID_TRY(const Generation now, views::LoadGeneration(core_->clients, core_->options.database, view));
    if (now.number == generation && now.moving.empty()) return status;
    generation = now.moving.empty() ? now.number : 0;
    status = read(now.collection);
  }
}

Result<std::map<int64_t, int64_t>> Views::Applied(View view) {
  std::map<int64_t, int64_t> applied;
  BRAID_CHECK_OK(
      RunTransaction(core_->clients, {.database = core_->options.database}, [&](Transaction& transaction) -> Status {
        BRAID_TRY(const Generation now, views::GetGeneration(transaction, view));
        BRAID_TRY(const auto marks, views::Marks::Load(transaction, now.collection, {}));
        applied = marks.Highest();
        return {};
      }));
  return applied;
}

// The progress of the views: their floors compared with the heads of the chains.

Result<std::vector<ViewProgress>> ReadProgress(Clients& clients, const std::string& database,
                                               std::span<const ChainHead> heads) {
  return ReadAll(clients, {.database = database}, heads);
}

Result<std::vector<ViewProgress>> Views::Progress(std::span<const ChainHead> heads) {
  return ReadAll(core_->clients, core_->InTransaction(), heads);
}

}  // namespace braid::settlement
