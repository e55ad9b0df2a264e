// The replies of one connection, put back into the order of its messages.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "services/settlement/service.h"

namespace braid::settlement {

/// Answers come in any order from any thread and leave in the order of their numbers, as bytes (format: listener.h).
class Replies {
 public:
  explicit Replies(uint32_t due_max) : due_max_(due_max) {}

  /// Before each message: waits until fewer than due_max are due. False after Abandon().
  bool AwaitRoom();
  void Add(const Answer& answer);
  /// No more messages will come.
  void End();
  /// The replies cannot be sent any more: nobody shall wait.
  void Abandon();
  /// Waits for the next reply and gives all that are next in order; empty after the last.
  std::string Take();

 private:
  const uint32_t due_max_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<std::optional<std::string>> due_;  // guarded by mu_, as are the next; the front is of number first_
  uint64_t first_ = 1;
  bool ended_ = false;
  bool abandoned_ = false;
};

/// One reply.
std::string EncodeReply(const Answer& answer);

}  // namespace braid::settlement
