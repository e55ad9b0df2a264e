// What writers, readers and the migrator of one store agree on: the phases of a migration (C6), listed in their order
// with rolled_back as a side branch, and the options that all of them are opened with.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "braid/clock.h"
#include "braid/status.h"
#include "services/settlement/migration/old_table.h"

namespace braid::settlement::migration {

enum class Phase {
  kNone,        ///< writers write the old table alone
  kPreflight,   ///< the same; the old table is being checked
  kDualWrite,   ///< writers add to the new chains too as soon as these have caught up
  kBackfill,    ///< the same; older outputs are on their way into the new chains
  kVerify,      ///< the new chains have caught up and are compared with the old table
  kVerified,    ///< they were equal
  kSwitching,   ///< no writes until the new chains have the newest output; a process that meets this phase mirrors
                ///< the rest itself
  kSwitched,    ///< readers read the new chains; an output is acknowledged when both have it
  kDropping,    ///< as kSwitching
  kDropped,     ///< the old table is gone; outputs pass through a queue into the new chains
  kRolledBack,  ///< as kNone; the new chains keep what they have
};
/// "none", "preflight", "dual_write", …
std::string_view NameOf(Phase phase);
/// kRecordDamaged if there is no such phase.
Result<Phase> PhaseOf(std::string_view name);

inline bool IsBarrier(Phase phase) { return phase == Phase::kSwitching || phase == Phase::kDropping; }
inline bool Mirrors(Phase phase) { return phase >= Phase::kDualWrite && phase <= Phase::kDropped; }
inline bool ReadsChains(Phase phase) { return phase >= Phase::kSwitched && phase <= Phase::kDropped; }
/// Whether a phase is at or after another one.
inline bool HasReached(Phase phase, Phase goal) { return phase >= goal && phase <= Phase::kDropped; }

struct MigrationOptions {
  std::string database = "settlement";
  std::string log = "engine_output_log";  ///< of the new chains
  std::string old_table = "engine_output_log_single";
  OldLayout layout;  ///< of the old table
  std::string state = "settlement_migration";
  /// Outputs that are read, compared or appended to the new chains at a time, and the most that a barrier may begin
  /// with. Default 1000, 1..10000. What a writer does for others is counted in it (writer.h).
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
  std::string sessions() const { return state + "_sessions"; }
  OldTable OldOnes() const { return {database, old_table, layout}; }
  /// Where writers put outputs first. The queue is always laid out as old_table.h has it.
  std::string TableIn(Phase phase) const { return phase == Phase::kDropped ? queue() : old_table; }
  const OldLayout& LayoutIn(Phase phase) const;
};

}  // namespace braid::settlement::migration
