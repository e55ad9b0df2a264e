// EpochPlan: what one call of Take() does with its epochs, inside one transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/timeline.h"
#include "services/explorer/epoch.h"
#include "services/explorer/known.h"

namespace braid::explorer {

/// Skips the epochs that are stored, then adds those that follow the tip, as many as one transaction should hold. The
/// epochs and the timeline must outlive it. One thread.
class EpochPlan {
 public:
  EpochPlan(const Timeline& timeline, std::span<const Epoch> epochs) : timeline_(timeline), epochs_(epochs) {}

  /// May run several times, each time from the beginning. An error is always about the first epoch; a later one that
  /// does not fit only ends the plan.
  Status Run(Growth& growth);

  /// The first epoch fits, once the chain has been popped to this epoch.
  std::optional<int64_t> pop_to() const { return pop_to_; }

  struct Outcome {
    int64_t skipped = 0;
    int64_t grown = 0;
  };
  /// The results for the first epochs, given how many of the begun ones were stored.
  Outcome OutcomeOf(int64_t stored) const;

 private:
  Status PlanPop(Growth& growth, const EpochState& replaced);
  Status Grow(Growth& growth, size_t first);
  void AddEpoch(Growth& growth, const Epoch& epoch, KnownState& known);
  int64_t AddTransactions(Growth& growth, const Epoch& epoch, const EpochBlock& block, KnownState& known);
  void AddBlock(Growth& growth, const Epoch& epoch, const EpochBlock& block, KnownState& known);
  void AddReceipts(Growth& growth, const Epoch& epoch, KnownState& known);

  const Timeline& timeline_;
  const std::span<const Epoch> epochs_;

  // Set anew by every Run().
  std::vector<bool> grown_;  // of the epochs that the plan took: added, or skipped
  std::optional<int64_t> pop_to_;
  int64_t transactions_ = 0;                                            // the score of the next new one
  std::unordered_map<std::string_view, const EpochReceipt*> receipts_;  // of the epoch that is being added
};

}  // namespace braid::explorer
