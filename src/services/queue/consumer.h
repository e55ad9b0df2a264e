// Takes messages from a queue of RabbitMQ and acknowledges them once their effects are durable.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "braid/status.h"
#include "services/queue/connection.h"

namespace braid::queue {

struct ConsumerOptions {
  Address address;
  std::string queue;
  /// Unacknowledged messages that the broker may send (prefetch): more hides latency, but costs memory here and is
  /// redelivered after a crash. Must exceed the number of messages that the caller gathers before it acknowledges, or
  /// both wait for each other. Default 10000, 1..65535.
  uint32_t prefetch = 10'000;
  /// Heartbeat interval: a side that receives nothing for two to three times this considers the other dead. Heartbeats
  /// are sent by Fetch only, so a caller may be busy for twice this between two calls: after that the broker may close
  /// the connection, which costs a reconnect and a redelivery, but no message. Default 60 s, 1..3600 s.
  std::chrono::seconds heartbeat{60};
  /// Creates the queue, durable, if it does not exist. If false, a missing queue is an error.
  bool declare = true;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

struct Message {
  uint64_t tag = 0;          // for Ack; grows by one from message to message, also across connections
  bool redelivered = false;  // it may have been delivered before, here or to another consumer
  std::string body;
};

/// One subscription. One thread at a time. Delivery is at least once: messages that were not acknowledged when the
/// connection ends are redelivered, and so may be acknowledged ones whose acknowledgement was lost. Messages come in
/// the queue's order, except redelivered ones.
///
/// A lost connection is kHostUnreachable (or another retryable code): call Reconnect(). A refusal by the broker (a
/// wrong password, a queue that was deleted or has other properties) is an error that is not retryable and names the
/// queue. After any error of Fetch or Ack except kBadValue the connection is closed. RabbitMQ also refuses a consumer
/// that leaves a message unacknowledged for half an hour (its consumer_timeout).
class Consumer {
 public:
  static Result<std::unique_ptr<Consumer>> Connect(const ConsumerOptions& options);

  /// Appends up to `most` messages to `out` and returns how many. Waits up to `wait` for the first and a few
  /// milliseconds for more; 0 if none came. On an error nothing is appended: those messages are redelivered.
  Result<size_t> Fetch(std::vector<Message>& out, size_t most, std::chrono::milliseconds wait);

  /// The broker may forget every message up to and including this one. Call it once all of them are durable. A tag of
  /// an earlier connection, or one never given out, is kBadValue and nothing is sent: such a message is redelivered.
  Status Ack(uint64_t up_to_tag);

  /// Closes the connection if there is one, so that all unacknowledged messages are redelivered, and connects again: at
  /// once, then at growing intervals of up to 2 s, until it succeeds, the error is not retryable, or `patience` is
  /// over.
  Status Reconnect(std::chrono::milliseconds patience);

 private:
  explicit Consumer(const ConsumerOptions& options);
  Status Subscribe();
  Status NextMessage(std::chrono::microseconds wait,
                     std::vector<Message>& out);  // appends one, or none if time is over
  Status Fail(const Status& status);

  const ConsumerOptions options_;
  const std::string where_;                 // the queue and the broker, for errors
  std::unique_ptr<Connection> connection_;  // null after an error
  // Delivery tags start at 1 on each connection; Message::tag is earlier_ + delivery tag, so that no two are the same.
  uint64_t earlier_ = 0;  // the last tag of all former connections
  uint64_t last_ = 0;     // the last tag given out
  uint64_t acked_ = 0;    // all up to here is acknowledged, or of a former connection
};

}  // namespace braid::queue
