#include "engine/commands/sessions.h"

#include "base/mutex.h"

namespace braid::commands {

void Sessions::Touch(std::string_view lsid) {
  const int64_t now = clock_.NowMillis();
  const MutexLock lock(mu_);
  last_use_millis_.insert_or_assign(std::string(lsid), now);
}

bool Sessions::End(std::string_view lsid) {
  const MutexLock lock(mu_);
  return last_use_millis_.erase(std::string(lsid)) > 0;
}

std::vector<std::string> Sessions::Expire() {
  const int64_t oldest = clock_.NowMillis() - int64_t{kSessionTimeoutMinutes} * 60'000;
  std::vector<std::string> expired;
  const MutexLock lock(mu_);
  for (auto it = last_use_millis_.begin(); it != last_use_millis_.end();) {
    if (it->second >= oldest) {
      ++it;
      continue;
    }
    expired.push_back(it->first);
    it = last_use_millis_.erase(it);
  }
  return expired;
}

size_t Sessions::size() const {
  const MutexLock lock(mu_);
  return last_use_millis_.size();
}

void Sessions::ForEach(const std::function<void(std::string_view, int64_t)>& visit) const {
  const MutexLock lock(mu_);
  for (const auto& [lsid, last_use] : last_use_millis_) visit(lsid, last_use);
}

}  // namespace braid::commands
