// What writers, readers and the migrator of one store are opened with.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "services/settlement/migration/phase.h"

namespace braid::settlement::migration {

struct MigrationOptions {
  std::string database = "settlement";
  std::string log = "engine_output_log";  ///< of the new chains
  std::string old_table = "engine_output_log_single";
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
  /// Where writers put outputs first.
  std::string TableIn(Phase phase) const { return phase == Phase::kDropped ? queue() : old_table; }
};

}  // namespace braid::settlement::migration
