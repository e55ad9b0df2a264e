// Puts messages into a queue and knows which of them the broker has made durable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braid/status.h"
#include "services/queue/connection.h"

namespace braid::queue {

struct PublisherOptions {
  Address address;
  std::string queue;
  /// Creates the queue, durable, if it does not exist. If false, a missing queue is an error of Publish().
  bool declare = true;
};

/// Persistent messages with publisher confirms. One thread at a time. After an error it cannot be used any more:
/// connect a new one.
class Publisher {
 public:
  struct Outcome {
    size_t confirmed = 0;  // bodies[0] to bodies[confirmed - 1] survive a crash of the broker; later ones may be there
    Status status;         // OK if that is all of them
  };

  static Result<std::unique_ptr<Publisher>> Connect(const PublisherOptions& options);

  /// In order; returns when the broker has confirmed all of them, or at the first error. A broker that is short of
  /// memory or disk reads nothing, and makes this wait.
  Outcome Publish(std::span<const std::string> bodies);

 private:
  explicit Publisher(const PublisherOptions& options);
  Status Send(const std::string& body);
  Status AwaitConfirm(std::vector<bool>& confirmed);

  const std::string queue_;
  const std::string where_;
  std::unique_ptr<Connection> connection_;  // null after an error
  uint64_t before_ = 0;                     // messages of earlier calls; the broker numbers them from 1
};

}  // namespace braid::queue
