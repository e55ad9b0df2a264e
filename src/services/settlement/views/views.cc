#include "services/settlement/views/views.h"

#include "base/strings.h"
#include "services/settlement/views/follow.h"

namespace braid::settlement {

using views::Generation;
using views::Target;

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

Views::Views(std::unique_ptr<views::Parts> parts) : parts_(std::move(parts)) {}
Views::~Views() = default;
Chains& Views::chains() { return *parts_->chains; }

Result<std::unique_ptr<Views>> Views::Open(Clients& clients, const ViewsOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  auto parts = std::make_unique<views::Parts>(clients, options);
  ChainsOptions chains;
  chains.database = options.database;
  chains.log = options.log;
  BRAID_TRY(parts->chains, Chains::Open(clients, chains));
  for (const View view : kViews) BRAID_CHECK_OK(views::CreateView(clients, options.database, view));
  return std::unique_ptr<Views>(new Views(std::move(parts)));
}

Result<FollowReport> Views::Follow(const FollowOptions& options) {
  constexpr int kTriesMax = 10;
  FollowReport report;
  for (int tries = 1;; ++tries) {
    std::vector<Target> targets;
    BRAID_CHECK_OK(RunTransaction(parts_->clients, parts_->InTransaction(), [&](Transaction& transaction) -> Status {
      targets.clear();
      for (const View view : kViews) {
        if (options.without.contains(view)) continue;
        BRAID_TRY(Generation now, views::GetGeneration(transaction, view));
        targets.push_back({view, std::move(now.collection)});
      }
      return {};
    }));
    const Status status = views::FollowTargets(*parts_, std::move(targets), options, report);
    if (status.ok()) return report;
    // A rebuilt view took the place of one we were at: once more, with the new one.
    if (status.code() != Code::kConflictingOperationInProgress || tries == kTriesMax) return status;
    report.damage.clear();
  }
}

Status Views::Read(View view, const std::function<Status(const std::string& collection)>& read) {
  std::string collection;
  Status status;
  for (;;) {
    BRAID_TRY(Generation now, views::LoadGeneration(parts_->clients, parts_->options.database, view));
    if (now.collection == collection) return status;
    collection = std::move(now.collection);
    status = read(collection);
  }
}

Result<std::map<int64_t, int64_t>> Views::Applied(View view) {
  std::map<int64_t, int64_t> applied;
  BRAID_CHECK_OK(
      RunTransaction(parts_->clients, {.database = parts_->options.database}, [&](Transaction& transaction) -> Status {
        BRAID_TRY(const Generation now, views::GetGeneration(transaction, view));
        BRAID_TRY(const auto marks, views::Marks::Load(transaction, now.collection, {}));
        applied = marks.Highest();
        return {};
      }));
  return applied;
}

}  // namespace braid::settlement
