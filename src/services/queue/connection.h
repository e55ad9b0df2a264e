// One connection to a broker with one channel, and what consumer and publisher do alike on it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "braid/status.h"
#include "services/queue/address.h"

struct amqp_connection_state_t_;

namespace braid::queue {

/// Logged in, channel open. One thread at a time. Whoever sees it fail says so with Abandon(), or the end waits for the
/// broker's farewell.
class Connection {
 public:
  /// The only channel.
  static constexpr uint16_t kChannel = 1;

  /// Connects within about ten seconds, or says why not: kHostUnreachable if nobody is there, kUnauthorized if the
  /// broker refuses the user.
  static Result<std::unique_ptr<Connection>> Open(const Address& address, std::chrono::seconds heartbeat);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  amqp_connection_state_t_* state() { return state_.get(); }
  void Abandon() { alive_ = false; }

  /// Makes the queue if it is not there: durable, not exclusive, not deleted with its last consumer.
  Status DeclareQueue(const std::string& queue, std::string_view where);

 private:
  struct Destroy {
    void operator()(amqp_connection_state_t_* state) const;
  };
  Connection();
  Status OpenSocket(const Address& address, std::string_view where);
  Status LogIn(const Address& address, int heartbeat_seconds, std::string_view where);

  std::unique_ptr<amqp_connection_state_t_, Destroy> state_;
  bool alive_ = false;
};

}  // namespace braid::queue
