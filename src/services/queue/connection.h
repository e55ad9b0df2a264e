// One connection to a broker with one channel, the operations that consumer and publisher share, and the errors of
// librabbitmq and of the broker as a Status, which is retryable if and only if a new connection may help.
#pragma once

#include <amqp.h>
#include <amqp_framing.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "services/queue/address.h"

namespace braid::queue {

/// A result of the library below zero: the connection is lost or was never made.
Status LibraryError(int status, std::string_view where);

/// The answer to a call: OK, a loss of the connection, or the broker's reason to close it or the channel.
Status ReplyError(const amqp_rpc_reply_t& reply, std::string_view where);

/// The error for a method that the broker sent by itself: a close, a cancelled consumer, or something unexpected.
Status MethodError(const amqp_method_t& method, std::string_view where);

/// A connection that is logged in and has its channel open. One thread at a time. After an error call Abandon();
/// otherwise the destructor waits for the broker's close-ok.
class Connection {
 public:
  /// The only channel.
  static constexpr uint16_t kChannel = 1;

  /// Connects within about ten seconds, or returns an error: kHostUnreachable if there is no broker, kUnauthorized if
  /// the broker refuses the user.
  static Result<std::unique_ptr<Connection>> Open(const Address& address, std::chrono::seconds heartbeat);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  amqp_connection_state_t_* state() { return state_.get(); }
  void Abandon() { alive_ = false; }

  /// Declares the queue, if it does not exist, as durable, not exclusive and not deleted with its last consumer.
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
