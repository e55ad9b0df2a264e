// Messages that cannot be processed, kept with the reason (A7).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "braid/clients.h"

namespace braid::staking {

struct BadMessage {
  std::string_view text;
  std::string reason;
  std::string_view file;  // empty: none, such as a message of a queue
  uint64_t line = 0;      // of the file, from 1
};

/// Keeps them in `collection` (unprocessable_messages or conflicting_events): {_id: SHA-256 of the text, message,
/// reason, file, line, bytes, received_at}. The same message again is kept once. What is not UTF-8 is kept as binary;
/// of a very long one, its first megabyte. OK: durable.
Status Keep(Clients& clients, const std::string& database, const std::string& collection,
            std::span<const BadMessage> messages);

}  // namespace braid::staking
