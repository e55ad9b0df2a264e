// A real RabbitMQ for tests.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>

#include "base/testing/testing.h"
#include "services/queue/address.h"

namespace braid::test {

/// Runs from the constructor on, on free ports and with a directory of its own; gone with the object, and with the
/// process if that dies. Use it from the thread that made it, which must live as long. A start takes 3 to 6 seconds:
/// share one.
class Broker {
 public:
  Broker();
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  queue::Address address() const;
  queue::Address tls_address() const;
  /// kill -9.
  void Kill() { End(SIGKILL); }
  /// An orderly stop, as by an operator: the broker closes its connections properly.
  void Stop() { End(SIGTERM); }
  /// After either: the same directory and ports. Returns when it takes connections.
  void Start();

  /// Messages that wait for a consumer; not those that one has and has not acknowledged.
  size_t Count(const std::string& queue) const;
  void DeleteQueue(const std::string& queue) const;
  /// Declares a queue that is not durable, which contradicts a later durable declaration.
  void DeclareTransient(const std::string& queue) const;
  /// Ends every connection of this process to the broker as a broken network would.
  void CutConnections() const;

 private:
  void AwaitReady() const;
  void End(int signal);

  const TemporaryDirectory directory_;
  uint16_t port_ = 0;
  uint16_t tls_port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace braid::test
