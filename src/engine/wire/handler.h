// Handler: answers the requests that the wire reads. It is the engine in a server, and a fake in the wire's own tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/memory_budget.h"
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
  /// The client no longer waits for the answer to its running request. Any thread.
  virtual void Interrupt(const commands::Client& client) = 0;

  /// Runs one command on the caller's thread. Always answers: an error is a reply too.
  virtual commands::Reply Run(commands::Client& client, const commands::Request& request) = 0;

  /// True if the request must be answered even while every thread for other requests is busy: it does not take long.
  virtual bool IsQuick(const commands::Request& /*request*/) { return false; }

  /// Calls `done` once, from any thread, maybe before it returns: when the log is durable past `position`. `turn`
  /// counts those that one thread calls one after another, from 0.
  virtual void WhenDurable(uint64_t position, std::function<void(Status, size_t turn)> done) = 0;

  /// The budget that unread replies are charged to; null if there is no limit.
  virtual MemoryBudget* memory() { return nullptr; }

  /// Interrupts running requests and refuses new ones.
  virtual void BeginShutdown() = 0;
};

}  // namespace braid::wire
