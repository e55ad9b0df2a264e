#include "services/staking/consume.h"

#include <utility>

#include "base/log.h"

namespace braid::staking {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kWait{200};        // for a message, and between looks at `stop`
constexpr milliseconds kPatience{1'000};  // for a broker, between looks at `stop`

bool Stopped(const ConsumeOptions& options) { return options.stop != nullptr && options.stop->load(); }

// All messages that were not acknowledged are redelivered afterwards.
Status ReconnectUntil(queue::Consumer& consumer, const ConsumeOptions& options, const Status& why) {
  log::warn("the queue is connected to again: {}", why.message());
  while (true) {
    const Status status = consumer.Reconnect(kPatience);
    if (status.ok() || !IsRetryable(status.code()) || Stopped(options)) return status;
  }
}

Result<Outcome> Apply(Ingestor& ingestor, const std::vector<queue::Message>& messages) {
  std::vector<std::string_view> lines;
  lines.reserve(messages.size());
  for (const queue::Message& message : messages) lines.emplace_back(message.body);
  return ingestor.Apply(lines);
}

}  // namespace

Status Consume(queue::Consumer& consumer, Ingestor& ingestor, const ConsumeOptions& options) {
  std::vector<queue::Message> messages;
  auto last_message = steady_clock::now();
  bool rankings_behind = true;
  while (!Stopped(options)) {
    messages.clear();
    if (const auto fetched = consumer.Fetch(messages, options.batch_messages_max, kWait); !fetched.ok()) {
      if (!IsRetryable(fetched.error().code())) return fetched.error();
      BRAID_CHECK_OK(ReconnectUntil(consumer, options, fetched.error()));
      continue;
    }
    if (messages.empty()) {
      if (std::exchange(rankings_behind, false)) {
        // The rankings are correct without it; the next batch reports any error of the store.
        ingestor.UpdateRankings().Ignore("only makes reading quicker");
      }
      if (options.idle_exit.count() > 0 && steady_clock::now() - last_message >= options.idle_exit) return {};
      continue;
    }
    last_message = steady_clock::now();
    rankings_behind = true;
    const Result<Outcome> outcome = Apply(ingestor, messages);
    Status status = outcome.ok() ? consumer.Ack(messages.back().tag) : outcome.error();
    if (!status.ok()) {
      if (!IsRetryable(status.code())) return status;
      BRAID_CHECK_OK(ReconnectUntil(consumer, options, status));
    }
    if (outcome.ok() && options.on_batch) options.on_batch(*outcome);
  }
  return {};
}

}  // namespace braid::staking
