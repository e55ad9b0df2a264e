#include "services/explorer/explorer.h"

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "base/strings.h"
#include "services/explorer/collections.h"
#include "services/explorer/plan.h"
#include "services/explorer/recount.h"

namespace braid::explorer {
namespace {

// Others may grow and pop at the same time. Without a limit two processes that replace each other's epochs would never
// end.
constexpr int kTakeRoundsMax = 16;

}  // namespace

Status ExplorerOptions::Validate() const {
  if (database.empty()) return Status(Code::kBadValue, "the database has no name");
  if (history_epochs < 1) {
    return Status(Code::kBadValue, StrCat("history_epochs is ", history_epochs, "; it must be at least 1"));
  }
  if (window_blocks < 1 || window_blocks > 1'000'000) {
    return Status(Code::kBadValue, StrCat("window_blocks is ", window_blocks, "; it must be 1 to 1000000"));
  }
  return {};
}

Explorer::Explorer(const ExplorerOptions& options, std::unique_ptr<Timeline> timeline)
    : options_(options), timeline_(std::move(timeline)) {}

Result<std::unique_ptr<Explorer>> Explorer::Open(Clients& clients, const ExplorerOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  BRAID_CHECK_OK(EnsureCollections(clients, options.database));
  TimelineOptions timeline_options{.database = options.database,
                                   .name = kTimeline,
                                   .collections = EpochCollections(),
                                   .history_epochs = options.history_epochs,
                                   .transaction_documents_max = options.transaction_documents_max,
                                   .clock = options.clock,
                                   .stop = options.stop};
  BRAID_TRY(std::unique_ptr<Timeline> timeline, Timeline::Open(clients, timeline_options));
  return std::unique_ptr<Explorer>(new Explorer(options, std::move(timeline)));
}

Result<At> Explorer::Tip() {
  BRAID_TRY(const EpochState tip, timeline_->Tip());
  return At{.epoch = tip.number, .pivot = tip.hash};
}

Result<At> Explorer::Pop(int64_t epochs) {
  if (epochs < 0) return Status(Code::kBadValue, StrCat("cannot remove ", epochs, " epochs"));
  int64_t target = -1;
  BRAID_CHECK_OK(timeline_->Read("", [&](braid::Transaction& transaction, const EpochState& tip) -> Status {
    target = tip.number - epochs;
    if (epochs == 0) return {};
    BRAID_TRY(const EpochState oldest, timeline_->StateOf(transaction, tip, target + 1));
    if (!oldest.empty()) return {};
    return Status(Code::kBadValue, StrCat("cannot remove ", epochs, " epochs: there are fewer, and the newest is ",
                                          tip.empty() ? std::string("none") : StrCat("epoch ", tip.number)));
  }));
  if (epochs == 0) return Tip();
  BRAID_TRY(const EpochState tip, timeline_->PopTo(target));
  return At{.epoch = tip.number, .pivot = tip.hash};
}

// Explorer::Take: adds epochs to the index. Each one grows the chain, is stored already, or replaces others.

Result<Explorer::Taken> Explorer::Take(std::span<const Epoch> epochs) {
  Taken taken;
  if (epochs.empty()) {
    BRAID_TRY(taken.tip, Tip());
    return taken;
  }
  for (int round = 0; round < kTakeRoundsMax; ++round) {
    EpochPlan plan(*timeline_, epochs);
    BRAID_TRY(const Timeline::Grown grown, timeline_->Grow([&](Growth& growth) { return plan.Run(growth); }));
    const EpochPlan::Outcome outcome = plan.OutcomeOf(grown.epochs);
    taken.grown = outcome.grown;
    taken.skipped = outcome.skipped;
    taken.taken = outcome.grown + outcome.skipped;
    taken.tip = {.epoch = grown.tip.number, .pivot = grown.tip.hash};
    BRAID_ASSERT(taken.taken <= static_cast<int64_t>(epochs.size()));
    if (taken.taken > 0) return taken;
    if (!plan.pop_to()) continue;
    BRAID_CHECK_OK(timeline_->PopTo(*plan.pop_to()));
    taken.popped += std::max<int64_t>(0, grown.tip.number - *plan.pop_to());
  }
  return Status(Code::kWriteConflict, StrCat("epoch ", epochs.front().number,
                                             ": another process keeps replacing the epochs that it has to follow"));
}

// Explorer::Verify: recounts every epoch, in the Timeline's walk over all of them.

Result<Explorer::Verification> Explorer::Verify(const std::function<void(int64_t)>& progress) {
  Verification verification;
  // An epoch may be looked at again, after a retry or because it was popped and another one grown.
  std::map<int64_t, std::pair<int64_t, int64_t>> counts;
  const auto check = [&](braid::Transaction& transaction, const EpochDocuments& documents,
                         const Timeline::OnDamage& damage) -> Status {
    EpochRecount recount(transaction, documents, damage);
    BRAID_CHECK_OK(recount.Run());
    counts[documents.state.number] = {recount.blocks(), recount.transactions()};
    return {};
  };
  BRAID_TRY(verification.timeline, timeline_->Verify(check, progress));
  for (const auto& [number, count] : counts) {
    if (number > verification.timeline.tip.number) break;
    verification.blocks += count.first;
    verification.transactions += count.second;
  }
  return verification;
}

}  // namespace braid::explorer
