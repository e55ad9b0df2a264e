#include "services/queue/consumer.h"

#include <algorithm>
#include <thread>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/strings.h"
#include "services/queue/connection.h"

namespace braid::queue {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// How long to wait for further messages after the first one. Enough to fill a batch while the broker is sending.
constexpr milliseconds kLinger{3};

/// A delivery as the library allocates it.
struct Envelope {
  amqp_envelope_t value = {};
  Envelope() = default;
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;
  ~Envelope() { amqp_destroy_envelope(&value); }  // nothing to do if it was never filled
};

timeval ToTimeval(microseconds wait) {
  return {.tv_sec = wait.count() / 1'000'000, .tv_usec = wait.count() % 1'000'000};
}

microseconds Until(Clock::time_point time) {
  return std::max(microseconds(0), std::chrono::ceil<microseconds>(time - Clock::now()));
}

}  // namespace

Status ConsumerOptions::Validate() const {
  if (queue.empty() || queue.size() > 255) {
    return Status(Code::kBadValue, StrCat("queue: a name of ", queue.size(), " bytes; 1 to 255 are possible"));
  }
  if (prefetch < 1 || prefetch > 65'535) {
    return Status(Code::kBadValue, StrCat("prefetch: ", prefetch, " is not in 1..65535"));
  }
  if (heartbeat.count() < 1 || heartbeat.count() > 3600) {
    return Status(Code::kBadValue, StrCat("heartbeat: ", heartbeat.count(), " s is not in 1..3600"));
  }
  return {};
}

Consumer::Consumer(const ConsumerOptions& options)
    : options_(options), where_(StrCat("queue '", options.queue, "' at ", options.address.ToString())) {}

Result<std::unique_ptr<Consumer>> Consumer::Connect(const ConsumerOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  std::unique_ptr<Consumer> consumer(new Consumer(options));
  BRAID_CHECK_OK(consumer->Subscribe());
  return consumer;
}

Status Consumer::Subscribe() {
  auto opened = Connection::Open(options_.address, options_.heartbeat);
  if (!opened.ok()) return opened.error().CausedBy(StrCat("queue '", options_.queue, "'"));
  connection_ = *std::move(opened);
  earlier_ = acked_ = last_;
  amqp_connection_state_t state = connection_->state();
  if (options_.declare) {
    if (const Status s = connection_->DeclareQueue(options_.queue, where_); !s.ok()) return Fail(s);
  }
  amqp_basic_qos(state, Connection::kChannel, 0, static_cast<uint16_t>(options_.prefetch), 0);
  if (const Status s = ReplyError(amqp_get_rpc_reply(state), where_); !s.ok()) return Fail(s);
  amqp_basic_consume(state, Connection::kChannel, amqp_cstring_bytes(options_.queue.c_str()), amqp_empty_bytes,
                     /*no_local=*/0, /*no_ack=*/0, /*exclusive=*/0, amqp_empty_table);
  return Fail(ReplyError(amqp_get_rpc_reply(state), where_));
}

Status Consumer::Fail(const Status& status) {
  if (status.ok()) return status;
  connection_->Abandon();
  connection_.reset();
  return status;
}

Result<size_t> Consumer::Fetch(std::vector<Message>& out, size_t most, milliseconds wait) {
  const size_t before = out.size();
  auto deadline = Clock::now() + wait;
  while (out.size() - before < most) {
    const size_t had = out.size();
    if (const Status s = NextMessage(Until(deadline), out); !s.ok()) {
      out.resize(before);
      return s;
    }
    if (out.size() == had) break;
    // The deadline only limits waiting: messages that have already arrived are taken even after it.
    if (had == before) deadline = Clock::now() + kLinger;
  }
  BRAID_ASSERT(out.size() - before <= most);
  return out.size() - before;
}

Status Consumer::NextMessage(microseconds wait, std::vector<Message>& out) {
  if (connection_ == nullptr) return Status(Code::kHostUnreachable, StrCat(where_, ": not connected"));
  amqp_connection_state_t state = connection_->state();
  amqp_maybe_release_buffers(state);
  Envelope envelope;
  const timeval timeout = ToTimeval(wait);
  const amqp_rpc_reply_t reply = amqp_consume_message(state, &envelope.value, &timeout, 0);
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
    const amqp_bytes_t& body = envelope.value.message.body;
    last_ = earlier_ + envelope.value.delivery_tag;
    out.push_back({.tag = last_,
                   .redelivered = envelope.value.redelivered != 0,
                   .body = std::string(static_cast<const char*>(body.bytes), body.len)});
    return {};
  }
  const bool library = reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION;
  if (library && reply.library_error == AMQP_STATUS_TIMEOUT) return {};
  if (!library || reply.library_error != AMQP_STATUS_UNEXPECTED_STATE) return Fail(ReplyError(reply, where_));
  // Not a delivery: the library has put the frame back for us to read.
  amqp_frame_t frame;
  const int read = amqp_simple_wait_frame(state, &frame);
  if (read != AMQP_STATUS_OK) return Fail(LibraryError(read, where_));
  if (frame.frame_type == AMQP_FRAME_METHOD) return Fail(MethodError(frame.payload.method, where_));
  return Fail(Status(Code::kProtocolError, StrCat(where_, ": content without a delivery")));
}

Status Consumer::Ack(uint64_t up_to_tag) {
  if (up_to_tag <= earlier_ || up_to_tag > last_) {
    return Status(Code::kBadValue, StrCat(where_, ": no message of this connection has the tag ", up_to_tag));
  }
  if (up_to_tag <= acked_) return {};
  if (connection_ == nullptr) return Status(Code::kHostUnreachable, StrCat(where_, ": not connected"));
  const int sent = amqp_basic_ack(connection_->state(), Connection::kChannel, up_to_tag - earlier_, /*multiple=*/1);
  if (sent != AMQP_STATUS_OK) return Fail(LibraryError(sent, where_));
  acked_ = up_to_tag;
  BRAID_ASSERT(earlier_ < acked_ && acked_ <= last_);
  return {};
}

Status Consumer::Reconnect(milliseconds patience) {
  Backoff backoff(milliseconds(50), milliseconds(2000));
  const auto deadline = Clock::now() + patience;
  connection_.reset();
  for (;;) {
    const Status status = Subscribe();
    if (status.ok() || !IsRetryable(status.code()) || Clock::now() >= deadline) return status;
    std::this_thread::sleep_until(std::min(deadline, Clock::now() + backoff.Next()));
  }
}

}  // namespace braid::queue
