// FailPoints: configureFailPoint's failCommand, for tests of drivers. Inactive unless the engine allows test commands.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>

#include "base/mutex.h"
#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::commands {

/// The effect of an active failCommand on one command.
struct FailAction {
  Status error;  // not OK: answer with this instead of running
  bool close_connection = false;
  int64_t block_millis = 0;                    // wait before going on
  bson::Document write_concern_error;          // run, then add this to the reply; empty: none
  std::optional<bson::Document> error_labels;  // an array of exactly these
};

/// Any thread.
class FailPoints {
 public:
  /// `failCommand` only; mode "off", "alwaysOn", {times: n} or {skip: n}. The reply's `count`: how often it was entered
  /// so far.
  Result<int64_t> Configure(bson::View command);
  /// Called once per command. Cheap while nothing is set.
  std::optional<FailAction> Enter(std::string_view command, std::string_view application);

 private:
  enum class Mode { kOff, kAlwaysOn, kTimes, kSkip };
  std::atomic<bool> active_{false};
  Mutex mu_;
  Mode mode_ BRAID_GUARDED_BY(mu_) = Mode::kOff;
  int64_t remaining_ BRAID_GUARDED_BY(mu_) = 0;
  int64_t entered_ BRAID_GUARDED_BY(mu_) = 0;
  bson::Document data_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::commands
