// Which of the sessions on a list nobody renews any more, by the clock of who watches alone: the clocks of two machines
// need not agree.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace braid::settlement::migration {

/// One thread at a time.
class SessionWatch {
 public:
  /// How long a session must have been seen without a renewal. Its process renews it every 300 ms.
  static constexpr std::chrono::milliseconds kPatience{1200};

  /// `renewals`: how often each session was renewed, as the list says now. Gives those that have not been renewed for
  /// kPatience of watching.
  std::vector<std::string> Abandoned(const std::map<std::string, int64_t>& renewals,
                                     std::chrono::steady_clock::time_point now);

 private:
  struct Seen {
    int64_t renewals = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace braid::settlement::migration
