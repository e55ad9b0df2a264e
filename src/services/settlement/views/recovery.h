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
  /// Chains verified at the same time; 0: one a core.
  uint32_t threads = 0;
  /// Called on any thread: what is done to records ("verified"), to how many so far, and of how many (0: not
  /// known).
  std::function<void(const std::string& done, int64_t records, int64_t total)> on_progress;
};

struct RecoverReport {
  /// With the damage that replay found, too: payloads that are no outputs.
  VerifyReport verify;
  FollowReport replay;  ///< what was new to the views
  std::optional<CheckReport> check;
  /// Views that could not be built again, because the damaged log no longer has what they are made of.
  std::vector<std::string> kept;
  /// If something is damaged: why the rest could not be done, such as a store that takes no writes for that reason.
  Status failure;
  double verify_seconds = 0;
  double replay_seconds = 0;
  double check_seconds = 0;
  bool ok() const { return verify.ok() && failure.ok() && kept.empty() && (!check || check->ok()); }
};

/// Symbols are those that the store has. A damaged chain is replayed up to the record before the first damage, the
/// others to their ends. An error: the store failed, and nothing is known to be damaged; the same call again goes on.
Result<RecoverReport> Recover(Views& views, const RecoverOptions& options);

}  // namespace braid::settlement
