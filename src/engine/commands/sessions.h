// Sessions: the logical sessions that clients have used lately. A session is created by being named (lsid) and expires
// when idle.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "braid/clock.h"
#include "engine/bson/value.h"

namespace braid::commands {

constexpr int kSessionTimeoutMinutes = 30;

/// Any thread. A session's name is the bytes of its lsid document's `id` (a UUID).
class Sessions {
 public:
  explicit Sessions(const Clock& clock) : clock_(clock) {}

  /// Used just now.
  void Touch(std::string_view lsid);
  /// True if it was known.
  bool End(std::string_view lsid);
  /// Ends everything idle for longer than the timeout; their names.
  std::vector<std::string> Expire();
  size_t size() const;
  void ForEach(const std::function<void(std::string_view lsid, int64_t last_use_millis)>& visit) const;

 private:
  const Clock& clock_;
  mutable Mutex mu_;
  std::unordered_map<std::string, int64_t> last_use_millis_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::commands
