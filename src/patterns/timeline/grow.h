// Changing a timeline: an epoch of a Growth in memory, before it is stored, one call of Timeline::Grow(), and the
// removal of documents beyond the tip.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "braid/timeline.h"
#include "patterns/timeline/state.h"
#include "patterns/timeline/sums.h"

namespace braid::timeline {

/// An epoch that a plan has added.
struct PlannedEpoch {
  explicit PlannedEpoch(size_t collections) : documents(collections) {}

  EpochState state;                                   // after it; set when it is complete
  std::vector<std::vector<const bson_t*>> documents;  // by collection, in the order of the options
  std::deque<Document> owned;                         // where they are
  int64_t count = 0;                                  // of all documents
  int64_t bytes = 0;                                  // the same
  DocumentSum sum;
};

/// One call of Timeline::Grow().
class Grower {
 public:
  using Plan = std::function<Status(Growth&)>;
  Grower(Clients& clients, const TimelineOptions& options) : clients_(clients), options_(options) {}
  Result<Timeline::Grown> Grow(const Plan& plan);

 private:
  using TransactionBody = std::function<Status(Transaction&)>;
  /// If the epoch of another Grow() does not change for this long, it counts as abandoned.
  static constexpr std::chrono::milliseconds kPatience{500};
  /// Documents of one transaction, by the place of their collection in the options.
  using Part = std::vector<std::pair<size_t, std::span<const bson_t* const>>>;
  enum class Outcome {
    kStored,
    kUnclean,   // something has to be removed first
    kTooLarge,  // the first epoch has to be stored in parts, and the head is marked
  };

  Status Run(const TransactionBody& body);
  Status PlanAndStore(Transaction& transaction, const Plan& plan);
  size_t Fitting() const;
  Status StoreTogether(Transaction& transaction, size_t count, Head& head);
  Status MoveTip(Transaction& transaction, std::span<const EpochState* const> states, Head& head) const;
  std::vector<Part> PartsOf(const PlannedEpoch& epoch) const;
  Status StoreParts();
  Status AwaitOther();

  Clients& clients_;
  const TimelineOptions& options_;
  std::unique_ptr<Growth> growth_;  // of the last run of the plan
  Outcome outcome_ = Outcome::kStored;
  Timeline::Grown grown_;
  std::string token_;
  Backoff backoff_{kPatience, 256 * kPatience};
  std::chrono::milliseconds patience_{0};  // with the other process that took the mark away; doubles with every loss
};

/// Removes the documents beyond the tip of an epoch that was never completed or is being removed; does nothing if the
/// head is clean. Any number of processes may do it at once; a Grow() that was adding the epoch starts again.
Status Clean(Clients& clients, const TimelineOptions& options);

/// Removes the documents that have the mark `epoch`, all of them.
Status RemoveEpoch(Transaction& transaction, const TimelineOptions& options, int64_t epoch);

}  // namespace braid::timeline
