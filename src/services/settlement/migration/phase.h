// The phases of a migration (C6); their order is that of the way, and rolled_back is beside it.
#pragma once

#include <string_view>

#include "braid/status.h"

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
/// kRecordDamaged if there is no such phase.
Result<Phase> PhaseOf(std::string_view name);

inline bool IsBarrier(Phase phase) { return phase == Phase::kSwitching || phase == Phase::kDropping; }
inline bool Mirrors(Phase phase) { return phase >= Phase::kDualWrite && phase <= Phase::kDropped; }
inline bool ReadsChains(Phase phase) { return phase >= Phase::kSwitched && phase <= Phase::kDropped; }
/// Whether the way from a phase led to another, or past it.
inline bool HasReached(Phase phase, Phase goal) { return phase >= goal && phase <= Phase::kDropped; }

}  // namespace braid::settlement::migration
