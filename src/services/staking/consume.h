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
  /// Ends when nothing came for so long; 0: only when asked to stop.
  std::chrono::milliseconds idle_exit{0};
  /// Ends after the batch under way.
  const std::atomic<bool>* stop = nullptr;
  /// Called after each batch that was acknowledged, with what became of it.
  std::function<void(const Outcome& outcome)> on_batch;
};

/// Takes messages until told to stop. A message is acknowledged once it had its effect or was kept as unprocessable,
/// durably; a kill before that makes it come again, which changes nothing. A broker that is away is waited for; so is a
/// store, and meanwhile nothing is acknowledged. An error: something that waiting will not cure.
Status Consume(queue::Consumer& consumer, Ingestor& ingestor, const ConsumeOptions& options);

}  // namespace braid::staking
