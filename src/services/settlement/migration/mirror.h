// Mirror: copies outputs into the new chains, from the table that writers write, in its order, beginning at the
// mirror's position.
//
// Why no chain can have a gap. (1) Writers put every output into one table in ascending order of sequences, in one
// transaction with its head; nothing is ever put before its end. (2) Everything that appends to the chains (the
// migrator, any writer, several at once, one that was asleep for an hour) appends what follows a position that the
// mirror had, in the table's order. The mirror moved there only after everything up to it was durable in the chains.
// (3) So whatever is appended, all that comes before it in the table is in the chains already, or comes before it in
// the same append. The chains answer what they have already with "duplicate". Hence at any time the chains hold a
// prefix of the table, and it does not matter which process is killed where. There is no queue beside the table and no
// order between backfill and new outputs to keep: a new output is backfilled like an old one, by its own writer if the
// mirror is near.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "braid/chains.h"
#include "services/settlement/migration/old_table.h"
#include "services/settlement/migration/state.h"

namespace braid::settlement::migration {

/// Any thread. The StateStore must outlive it.
class Mirror {
 public:
  static Result<std::unique_ptr<Mirror>> Open(StateStore& store);

  struct Stepped {
    State state;         ///< after it
    int64_t others = 0;  ///< outputs appended that were not at hand
  };
  /// Appends the next outputs to the chains, at most `outputs_max`, and moves the mirror.
  /// `at_hand`: records that the caller has, one after another in the table; they are not read again if it is their
  /// turn.
  Result<Stepped> Step(size_t outputs_max, std::span<const OldRecord> at_hand = {});

  /// Repeats this until the chains have everything up to a sequence of the table. Returns the sum of `others`: the
  /// outputs before the records at hand, and at most one batch of later ones.
  Result<int64_t> UpTo(int64_t sequence, std::span<const OldRecord> at_hand = {});

  /// Ends a barrier: brings the chains up to the newest output, which no writer moves meanwhile, and changes the phase.
  /// OK if there is none. If the chains refuse an output the phase falls back, so that writers go on, and `why` of the
  /// state says what happened. Returns the number of outputs appended: at most one batch, because a barrier begins with
  /// no more.
  Result<int64_t> EndBarrier();

  Chains& chains() { return *chains_; }

 private:
  Mirror(StateStore& store, std::unique_ptr<Chains> chains) : store_(store), chains_(std::move(chains)) {}
  Result<std::vector<OldRecord>> NextRecords(const State& state, size_t outputs_max,
                                             std::span<const OldRecord> at_hand) const;
  Status ForgetQueued(int64_t up_to);

  StateStore& store_;
  const std::unique_ptr<Chains> chains_;
};

/// Whether the error comes from the chains rather than from the store.
bool IsRefusal(const Status& status);

}  // namespace braid::settlement::migration
