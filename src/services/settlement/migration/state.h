// How far a migration is: what writers, readers and the migrator agree on, kept in the store (C6).
//
// The collection `settlement_migration` has two documents:
//   {_id: "migration", phase, log, old_table, seq, hash, outputs, verified_seq, why, history: [{phase, at, why}, …]}
//   {_id: "mirror", seq, outputs}
// The first is the head of the single chain too: seq and hash of its newest output, and how many there are. Every write
// changes it on the condition that the phase is still the one it was planned for. So a change of phase and a write
// exclude each other in the store, and a phase begins for all writers at one moment.
// The second says how far the outputs are in the new chains: all up to seq are, in their order. It moves only after
// they are durable there, and is the only thing that backfill, writers and a restart go by.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "braid/clients.h"
#include "braid/transaction.h"
#include "services/settlement/migration/session_guard.h"

namespace braid::settlement::migration {

enum class Phase {
  kNone,        ///< writers write the old table alone
  kPreflight,   ///< the same; the old table is being checked
  kDualWrite,   ///< writers add to the new chains too as soon as these have caught up
  kBackfill,    ///< the same; older outputs are on their way into the new chains
  kVerify,      ///< the new chains have caught up and are compared with the old table
  kVerified,    ///< they were equal
  kSwitching,   ///< nobody writes until the new chains have the newest output; whoever meets this makes it so
  kSwitched,    ///< readers read the new chains; an output is acknowledged when both have it
  kDropping,    ///< as kSwitching
  kDropped,     ///< the old table is gone; outputs pass through a queue into the new chains
  kRolledBack,  ///< as kNone; the new chains keep what they have
};
/// "none", "preflight", "dual_write", …
std::string_view NameOf(Phase phase);
inline bool IsBarrier(Phase phase) { return phase == Phase::kSwitching || phase == Phase::kDropping; }
inline bool Mirrors(Phase phase) { return phase >= Phase::kDualWrite && phase <= Phase::kDropped; }
inline bool ReadsChains(Phase phase) { return phase >= Phase::kSwitched && phase <= Phase::kDropped; }

struct MigrationOptions {
  std::string database = "settlement";
  std::string log = "engine_output_log";  ///< of the new chains
  std::string old_table = "engine_output_log_single";
  std::string state = "settlement_migration";
  /// Outputs that are read, compared or appended to the new chains at a time. Default 1000, 1..10000. A writer waits
  /// for one such batch at most, besides its own.
  uint32_t batch_records_max = 1000;
  const Clock* clock = nullptr;  ///< null for the machine's
  /// Ends long steps with kInterrupted when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// Called by long steps with what is done and what there is to do, in outputs. May be empty.
  std::function<void(std::string_view step, int64_t done, int64_t of)> on_progress;
  /// Called between any two changes of the store with a name of the place: an error ends the operation there, as a kill
  /// would. For tests; may be empty.
  std::function<Status(std::string_view place)> failpoint;

  Status Validate() const;
  Status Reached(std::string_view place) const { return failpoint ? failpoint(place) : Status(); }
  Status CheckStop() const;
  int64_t NowMillis() const { return (clock != nullptr ? *clock : Clock::System()).NowMillis(); }
  std::string queue() const { return state + "_queue"; }
  /// Where writers put outputs first.
  std::string TableIn(Phase phase) const { return phase == Phase::kDropped ? queue() : old_table; }
};

struct PhaseChange {
  std::string phase;
  int64_t at = 0;
  std::string why;
};

struct State {
  Phase phase = Phase::kNone;
  int64_t seq = 0;      ///< of the newest output
  int64_t hash = 0;     ///< of its record in the single chain
  int64_t outputs = 0;  ///< how many there are
  int64_t mirrored_seq = 0;
  int64_t mirrored_outputs = 0;
  int64_t verified_seq = 0;  ///< up to here the new chains were found equal
  std::string why;           ///< of the latest failure or fall-back; empty if there was none since
  std::vector<PhaseChange> history;
};

/// The documents. Any thread. The Clients must outlive it.
class StateStore {
 public:
  /// Creates the collections and documents if absent. A store that has an old table but no state yet begins with
  /// kNone at the table's newest output. kBadValue if a migration with other names is under way.
  static Result<std::unique_ptr<StateStore>> Open(Clients& clients, const MigrationOptions& options);

  /// RunTransaction(), of which the others know whose it is.
  Status InTransaction(const std::function<Status(Transaction&)>& body);

  /// Both documents in one snapshot.
  Result<State> Load();
  Result<State> LoadIn(Transaction& transaction);
  Result<Phase> LoadPhase();

  /// The head of the single chain moves on from `before`, in the transaction of the write.
  struct NewHead {
    int64_t seq = 0;
    int64_t hash = 0;
    int64_t outputs = 0;
  };
  Status MoveHead(Transaction& transaction, const State& before, const NewHead& head);
  /// The mirror moves on from `before` if it is still there; it is not an error if it is not.
  Status MoveMirror(const State& before, int64_t seq, int64_t outputs);

  /// From one phase to another in one step. kConflictingOperationInProgress if the phase is not `from` any more.
  Status Change(Phase from, Phase to, const std::string& why = "");
  /// The same, and only if the new chains have everything: else kConflictingOperationInProgress.
  Status ChangeIfMirrored(Phase from, Phase to);
  /// How far the new chains were compared, and what was wrong if anything was.
  Status SetVerified(Phase phase, int64_t seq, const std::string& why);
  /// While no migration is under way: the head becomes the old table's newest output, if another program went on there.
  Status AdoptHead();

  const MigrationOptions& options() const { return options_; }
  Clients& clients() const { return clients_; }
  SessionGuard& guard() { return guard_; }

 private:
  StateStore(Clients& clients, const MigrationOptions& options)
      : clients_(clients), options_(options), guard_(clients, options.database, options.state + "_sessions") {}
  Status Create();
  Status ChangeIn(Transaction& transaction, Phase from, Phase to, const std::string& why);
  Status Set(Transaction& transaction, Phase phase, const bson_t* change);

  Clients& clients_;
  const MigrationOptions options_;
  SessionGuard guard_;
};

/// Where readers must read now.
enum class ReadSource { kOldTable, kChains };
Result<ReadSource> ReadSourceOf(StateStore& store);

}  // namespace braid::settlement::migration
