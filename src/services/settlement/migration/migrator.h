// Migrator: takes a store from one chain over all symbols to one chain per symbol, without a stop (C6).
//
// The steps: preflight → dual write → backfill → verify → switch (by the user) → drop (by the user). Rolling back is
// possible at any point before the drop. state.h has the phases and what writers do in each, mirror.h why no chain gets
// a gap. Every step reads where it stands from the store, does what is missing, and may be run again after a kill at
// any point; two migrators at once do no harm.
//   The switch and the drop happen for all processes at one moment. A reader of the old table may have seen an output
//   that is not in the chains yet, so neither may happen while there is one. Each begins with a barrier, when at most
//   one batch is in progress: a writer that meets the barrier does not write until it, or the migrator, has brought
//   that batch into the chains and changed the phase. So no process waits for another one that may be dead. Rolling
//   back needs no barrier: the old table always has everything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "services/settlement/migration/mirror.h"

namespace braid::settlement::migration {

struct Difference {
  int64_t output_seq = 0;
  int64_t symbol_id = 0;  ///< the chain that has it or should have it
  std::string what;
};

struct CompareReport {
  bool ok() const { return differences_total == 0; }
  int64_t old_outputs = 0;  ///< looked at in the old table
  int64_t new_outputs = 0;  ///< and in the chains, one of several chains counted once
  int64_t differences_total = 0;
  std::vector<Difference> differences;  ///< the first of them
  void Add(Difference difference);
};

/// Two earlier positions of the mirror.
struct CompareRange {
  int64_t after = 0;
  int64_t to = 0;
};

/// Reads both and names every difference in a range of sequences: an output of the old table must be in the chains of
/// its symbols and nowhere else, with the same input and output; the chains may hold no other; and both must be chained
/// as their formats say. Writers may write meanwhile. An error means that the store failed.
Result<CompareReport> Compare(StateStore& store, Mirror& mirror, const CompareRange& range);

/// One thread at a time. The Clients must outlive it.
class Migrator {
 public:
  static Result<std::unique_ptr<Migrator>> Open(Clients& clients, const MigrationOptions& options);

  Result<State> Load() { return store_->Load(); }

  /// Whether a migration can begin: the old table is sound, its outputs fit into chains, its newest is the one that
  /// writers know of, and the new log is empty or holds what was mirrored before. Changes nothing but the phase and,
  /// while no migration is under way, which log it goes to. The error says what is wrong and what to do.
  Status Preflight();
  /// Preflight(), then dual write. OK if that was done before, by this migrator or another.
  Status Start();
  /// Brings the new chains up to date.
  Status Backfill();
  /// Compares the chains with the old table. If they differ, the phase stays and the error names the first difference.
  /// `report` may be null.
  Status Verify(CompareReport* report = nullptr);
  /// Does all of the steps above that are still to be done.
  Status Run(CompareReport* report = nullptr);
  /// Compares the outputs added since, then switches readers to the chains. OK if that was done before.
  Status Switch();
  /// Readers read the old table, writers write it alone. The chains keep what they have, and another Run() goes on
  /// from there. OK if no migration is under way; kIllegalOperation after the drop.
  Status Rollback();
  /// Removes the old table; only after the switch, and irreversible. Repeating it mirrors what a killed writer left in
  /// the queue.
  Status Drop();

  /// Whether a table is left to be removed after a drop that was cut short.
  Result<bool> HasOldTable() { return migration::HasOldTable(store_->clients(), options()); }

 private:
  Migrator(std::unique_ptr<StateStore> store, std::unique_ptr<Mirror> mirror)
      : store_(std::move(store)), mirror_(std::move(mirror)) {}
  const MigrationOptions& options() const { return store_->options(); }
  static Status WrongPhase(const State& state, std::string_view what);
  Status CheckChains();
  Status Enter(Phase from, Phase to);
  Status Await(Phase phase);
  Status CatchUp();
  Status CompareRest(CompareReport* report);
  Status BeginBarrier(Phase from, Phase barrier);
  Status Pass(Phase barrier, Phase target);

  const std::unique_ptr<StateStore> store_;
  const std::unique_ptr<Mirror> mirror_;
};

}  // namespace braid::settlement::migration
