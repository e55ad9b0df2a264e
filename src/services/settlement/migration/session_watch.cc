#include "services/settlement/migration/session_watch.h"

namespace braid::settlement::migration {

std::vector<std::string> SessionWatch::Abandoned(const std::map<std::string, int64_t>& renewals,
                                                 std::chrono::steady_clock::time_point now) {
  std::erase_if(seen_, [&](const auto& seen) { return !renewals.contains(seen.first); });
  std::vector<std::string> abandoned;
  for (const auto& [id, count] : renewals) {
    const auto [seen, first] = seen_.try_emplace(id, Seen{count, now});
    if (seen->second.renewals != count) seen->second = {count, now};
    if (now - seen->second.since >= kPatience) abandoned.push_back(id);
  }
  return abandoned;
}

}  // namespace braid::settlement::migration
