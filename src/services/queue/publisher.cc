#include "services/queue/publisher.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "services/queue/connection.h"

namespace braid::queue {
namespace {

/// Messages sent without a confirm. Enough to keep a broker busy that syncs its disk once for many messages.
constexpr size_t kUnconfirmedMost = 2000;
/// Timeout for one confirm. A broker confirms within a few hundred milliseconds unless its disk has a problem.
constexpr timeval kConfirmTimeout = {.tv_sec = 60, .tv_usec = 0};
constexpr std::chrono::seconds kHeartbeat{60};
constexpr uint8_t kPersistent = 2;

amqp_bytes_t Bytes(const std::string& text) { return {.len = text.size(), .bytes = const_cast<char*>(text.data())}; }

}  // namespace

Publisher::Publisher(const PublisherOptions& options)
    : queue_(options.queue), where_(StrCat("queue '", options.queue, "' at ", options.address.ToString())) {}

Result<std::unique_ptr<Publisher>> Publisher::Connect(const PublisherOptions& options) {
  std::unique_ptr<Publisher> publisher(new Publisher(options));
  BRAID_TRY(publisher->connection_, Connection::Open(options.address, kHeartbeat));
  Connection& connection = *publisher->connection_;
  if (options.declare) BRAID_CHECK_OK(connection.DeclareQueue(options.queue, publisher->where_));
  amqp_confirm_select(connection.state(), Connection::kChannel);
  BRAID_CHECK_OK(ReplyError(amqp_get_rpc_reply(connection.state()), publisher->where_));
  return publisher;
}

Status Publisher::Send(const std::string& body) {
  const amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG, .delivery_mode = kPersistent};
  // Mandatory: else a message for a queue that does not exist would be dropped, and confirmed.
  const int sent = amqp_basic_publish(connection_->state(), Connection::kChannel, amqp_empty_bytes, Bytes(queue_),
                                      /*mandatory=*/1, /*immediate=*/0, &properties, Bytes(body));
  return sent == AMQP_STATUS_OK ? Status() : LibraryError(sent, where_);
}

Status Publisher::AwaitConfirm(std::vector<bool>& confirmed) {
  amqp_connection_state_t state = connection_->state();
  amqp_maybe_release_buffers(state);
  amqp_frame_t frame;
  const int read = amqp_simple_wait_frame_noblock(state, &frame, &kConfirmTimeout);
  if (read != AMQP_STATUS_OK) return LibraryError(read, where_);
  if (frame.frame_type != AMQP_FRAME_METHOD)
    return Status(Code::kProtocolError, StrCat(where_, ": unexpected content"));
  const amqp_method_t& method = frame.payload.method;
  switch (method.id) {
    case AMQP_BASIC_ACK_METHOD: {
      const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
      if (ack.delivery_tag <= before_ || ack.delivery_tag > before_ + confirmed.size()) {
        return Status(Code::kProtocolError,
                      StrCat(where_, ": a confirm of message ", ack.delivery_tag, ", never sent"));
      }
      const auto last = confirmed.begin() + static_cast<ptrdiff_t>(ack.delivery_tag - before_ - 1);
      if (ack.multiple) std::fill(confirmed.begin(), last, true);
      *last = true;
      return {};
    }
    case AMQP_BASIC_RETURN_METHOD:
      return Status(Code::kNamespaceNotFound, StrCat(where_, ": the queue does not exist, the message was returned"));
    case AMQP_BASIC_NACK_METHOD:
      return Status(Code::kQueueFull, StrCat(where_, ": the broker did not take the message"));
    default: return MethodError(method, where_);
  }
}

Publisher::Outcome Publisher::Publish(std::span<const std::string> bodies) {
  Outcome outcome;
  if (connection_ == nullptr) {
    outcome.status = Status(Code::kHostUnreachable, StrCat(where_, ": not connected"));
    return outcome;
  }
  std::vector<bool> confirmed;  // one for each that was sent
  while (outcome.confirmed < bodies.size() && outcome.status.ok()) {
    if (confirmed.size() < bodies.size() && confirmed.size() - outcome.confirmed < kUnconfirmedMost) {
      outcome.status = Send(bodies[confirmed.size()]);
      confirmed.push_back(false);
      continue;
    }
    outcome.status = AwaitConfirm(confirmed);
    while (outcome.confirmed < confirmed.size() && confirmed[outcome.confirmed]) ++outcome.confirmed;
  }
  BRAID_ASSERT(outcome.confirmed <= confirmed.size() && confirmed.size() <= bodies.size());
  before_ += confirmed.size();
  if (!outcome.status.ok()) {
    connection_->Abandon();
    connection_.reset();
  }
  return outcome;
}

}  // namespace braid::queue
