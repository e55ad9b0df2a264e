// Events from a queue: acknowledged only when their effects are durable (A5, A7).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "services/queue/consumer.h"
#include "services/staking/ingestor.h"

namespace braid::staking {

struct ConsumeOptions {
  /// Messages that are applied and acknowledged together, at most. Default 10000.
  size_t batch_messages_max = 10'000;
  /// Ends when no message came for this long; 0: only when asked to stop.
  std::chrono::milliseconds idle_exit{0};
  /// Ends after the current batch.
  const std::atomic<bool>* stop = nullptr;
  /// Called after each acknowledged batch, with its results.
  std::function<void(const Outcome& outcome)> on_batch;
};

/// Takes messages until told to stop. A message is acknowledged once its effect, or its record as unprocessable, is
/// durable; after a kill before that it is redelivered, which changes nothing. If the broker or the store is
/// unavailable, it waits, and acknowledges nothing meanwhile. An error is one that waiting does not solve.
Status Consume(queue::Consumer& consumer, Ingestor& ingestor, const ConsumeOptions& options);

}  // namespace braid::staking
