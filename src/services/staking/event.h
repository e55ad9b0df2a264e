// A staking event, and the line of JSON it comes as (F1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::staking {

enum class State { kActive, kUnbonded };

/// "active" and "unbonded", as in the ids of stats_lock.
std::string_view NameOf(State state);

/// Hex digits are in lower case. Of an unbonded event only type and hash are used: it subtracts what its own active
/// event recorded (A6).
struct Event {
  State state = State::kActive;
  std::string hash;  // of the staking transaction
  std::string staker;
  std::string finality_provider;
  int64_t value = 0;  // satoshi
  std::optional<int64_t> timestamp;
  size_t line = 0;  // the index of its line in the batch; not part of the event itself

  /// Of its document in stats_lock (A4).
  std::string LockId() const;
};

/// All bitcoin there can be, in satoshi: an event with more is a mistake.
inline constexpr int64_t kValueMax = 2'100'000'000'000'000;

/// Reads events; reuse it, because it keeps its memory. One thread at a time.
class EventParser {
 public:
  EventParser();
  ~EventParser();
  /// The error's message is the reason why the event cannot be processed (A7): for people, naming the field.
  Result<Event> Parse(std::string_view line);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// The event as a line, without its end.
std::string ToJson(const Event& event);

}  // namespace braid::staking
