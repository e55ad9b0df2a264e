// Recovery: every chain verified, then replayed into the views (C5).
#pragma once

#include <functional>
#include <optional>

#include "services/settlement/views/views.h"

namespace braid::settlement {

struct RecoverOptions {
  /// Builds every view again from the first record on, instead of applying what is new.
  bool rebuild = false;
  /// Recounts every view from the log at the end.
  bool check = false;
  /// Chains verified at the same time; 0: one per core.
  uint32_t threads = 0;
  /// Called on any thread with the step ("verified"), the records done so far, and their total (0: not known).
  std::function<void(const std::string& done, int64_t records, int64_t total)> on_progress;
};

struct RecoverReport {
  /// Includes the damage found by the replay: payloads that are not outputs.
  VerifyReport verify;
  FollowReport replay;  ///< what was new to the views
  std::optional<CheckReport> check;
  /// Views that could not be built again, because the damaged log no longer has what they are made of.
  std::vector<std::string> kept;
  /// If something is damaged: why the other steps could not be done, for example because the store refuses writes.
  Status failure;
  double verify_seconds = 0;
  double replay_seconds = 0;
  double check_seconds = 0;
  bool ok() const { return verify.ok() && failure.ok() && kept.empty() && (!check || check->ok()); }
};

/// Symbols are those that the store has. A damaged chain is replayed up to the record before the first damage, the
/// others to their ends. An error means that the store failed and no damage is known; repeating the call continues.
Result<RecoverReport> Recover(Views& views, const RecoverOptions& options);

}  // namespace braid::settlement
