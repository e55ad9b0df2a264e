// Handler: who answers the requests that the wire reads. The engine in a server, a fake in the wire's own tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "braid/status.h"
#include "engine/commands/request.h"

namespace braid::wire {

/// Called from any thread, for one connection by one thread at a time.
class Handler {
 public:
  virtual ~Handler() = default;

  /// A new connection; `remote` as in Client.
  virtual commands::Client Connect(std::string remote) = 0;
  virtual void Disconnect(const commands::Client& client) = 0;

  /// Runs one command on the caller's thread. Always answers: an error is a reply too.
  virtual commands::Reply Run(commands::Client& client, const commands::Request& request) = 0;

  /// Calls `done` once, from any thread, maybe before it returns: when the log is durable past `position`.
  virtual void WhenDurable(uint64_t position, std::function<void(Status)> done) = 0;

  /// Interrupts what runs and refuses what comes.
  virtual void BeginShutdown() = 0;
};

}  // namespace braid::wire
