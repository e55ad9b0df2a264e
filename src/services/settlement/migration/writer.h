// MigratingWriter: appends outputs for a service before, during and after a migration (C6).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "services/settlement/migration/mirror.h"

namespace braid::settlement::migration {

/// Appends to the old table, to the new chains or to both, as the phase of the migration says, which is read with every
/// batch and holds for it: a change of phase in between makes the batch start again. Several writers, in one process or
/// in many, take turns at the head of the single chain. Once the migration is over (phase dropped) outputs pass
/// through a queue on their way into the chains, so that several writers still agree on one order; a service that has
/// one writer for each symbol then does better with Settlement (service.h).
/// What an append does for others is bounded, and counted in Written:
///   - until the switch at most twice its own outputs or one batch (MigrationOptions), whichever is more;
///   - from the switch on what is ahead of it in the order, which are outputs of appends that have not returned, and at
///     most one batch of what came after;
///   - at each barrier that it meets at most one batch.
/// Until the switch the chains never make an append fail: what they refuse stops the migration, not the service. Any
/// thread; appends of one object take turns. The Clients must outlive it.
class MigratingWriter {
 public:
  static Result<std::unique_ptr<MigratingWriter>> Open(Clients& clients, const MigrationOptions& options);

  struct Written {
    int64_t first_seq = 0;
    int64_t last_seq = 0;
    int64_t duplicates = 0;  ///< were stored already
    Phase phase = Phase::kNone;
    int64_t ahead = 0;       ///< outputs of others that the chains lacked when these were stored, during a migration
    int64_t brought_in = 0;  ///< outputs of others that this append took to the chains
    int64_t barriers = 0;    ///< that it met
  };
  /// Outputs with ascending sequences, all durable together when it returns. What is stored already with the same
  /// contents is acknowledged again (hashes that outputs name are not looked at); kChainBroken if the contents differ,
  /// or the sequence is one that was passed over. kBadValue, and nothing is stored: an output that the chains cannot
  /// hold, or that could not be read back. After any other error it is not known whether they are stored, and repeating
  /// the call is safe.
  Result<Written> Append(std::span<const Output> outputs);
  /// Outputs that get the next sequences here, whatever theirs are. After an error they may be stored or not.
  Result<Written> AppendNext(std::vector<Output> outputs);

  StateStore& store() { return *store_; }

 private:
  MigratingWriter(std::unique_ptr<StateStore> store, std::unique_ptr<Mirror> mirror)
      : store_(std::move(store)), mirror_(std::move(mirror)) {}
  struct Plan {
    State state;                         // of the transaction
    std::vector<OldRecord> records;      // new ones, for the table
    std::vector<ChainRecord> in_chains;  // known ones that only the chains can tell
    int64_t duplicates = 0;
    int64_t behind = 0;  // outputs that the chains lack, the new ones too
  };
  Result<Written> Write(std::vector<Output> outputs, bool give_sequences);
  Status PlanIn(Transaction& transaction, std::vector<Output>& outputs, bool give_sequences, Plan& plan);
  Status CheckKnown(Transaction& transaction, std::span<const Output> outputs, Plan& plan);
  Status Insert(Transaction& transaction, const Plan& plan);
  Result<int64_t> Finish(const Plan& plan, int64_t last) BRAID_REQUIRES(mu_);
  int64_t Help(const Plan& plan) BRAID_REQUIRES(mu_);

  const std::unique_ptr<StateStore> store_;
  const std::unique_ptr<Mirror> mirror_;
  Mutex mu_;
  int64_t behind_ BRAID_GUARDED_BY(mu_) = 0;  // outputs that the chains lacked after the batch before
};

}  // namespace braid::settlement::migration
