// Handler: what answers the requests that the wire reads. The engine in a server, a fake in the wire's own tests.
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
  /// Nobody waits any more for the answer to the client's request that is being run. Any thread.
  virtual void Interrupt(const commands::Client& client) = 0;

  /// Runs one command on the caller's thread. Always answers: an error is a reply too.
  virtual commands::Reply Run(commands::Client& client, const commands::Request& request) = 0;

  /// True if the request is to be answered even while every thread for others is taken: it does not take long.
  virtual bool IsQuick(const commands::Request& /*request*/) { return false; }

  /// Calls `done` once, from any thread, maybe before it returns: when the log is durable past `position`. `turn`
  /// counts those that one thread calls one after another, from 0.
  virtual void WhenDurable(uint64_t position, std::function<void(Status, size_t turn)> done) = 0;

  /// What replies that clients are slow to read are charged to; null: there is no limit.
  virtual MemoryBudget* memory() { return nullptr; }

  /// Interrupts what runs and refuses what comes.
  virtual void BeginShutdown() = 0;
};

}  // namespace braid::wire
