// Exchange: the requests and replies of one connection without its transport: the bytes of a request in, the bytes of a
// reply out.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/wire/handler.h"
#include "engine/wire/reply.h"

namespace braid::wire {

/// Used by one thread at a time. Handler and client must outlive it.
///
///   exchange.Read(bytes);            // decompress, parse; bytes stay in place until ForgetRequest or Finish
///   exchange.Run(client);            // the handler's work
///   exchange.Prepare();              // part of the work, too
///   … if durable_at() > 0: wait for the log, and Fail(status) if the log failed …
///   if (exchange.Frame()) send(exchange.parts());
///   exchange.ForgetRequest();        // while the reply is on its way
///   exchange.Finish();
class Exchange {
 public:
  explicit Exchange(Handler& handler) : handler_(handler) {}

  /// Parses one whole message; one that is larger than `bytes_max` when it is decompressed is an error. An error
  /// becomes the reply, and Run() does nothing.
  void Read(std::string_view message, uint64_t bytes_max = kMessageBytesMax);
  /// Makes the status the reply to a message that was not read; `head` is its first bytes, at least the header.
  void Refuse(std::string_view head, const Status& status);
  void Run(commands::Client& client);
  /// Compresses a large reply, on the thread of the request rather than that of the sender.
  void Prepare();
  /// Replaces the reply by an error.
  void Fail(const Status& status);
  /// Builds the reply's bytes; false if there is nothing to send.
  bool Frame();
  const ReplyFrame& frame() const { return frame_; }
  /// Called when the request is no longer needed: releases the memory of a large one.
  void ForgetRequest();
  /// The same for the reply, and for the request if that was not forgotten.
  void Finish();
  /// Called when the rest of a large reply is charged by the caller.
  void ReleaseCharge() { reply_.charge.reset(); }

  /// Of the request just read; empty if it could not be read.
  std::string_view command() const { return message_.request.name; }
  const commands::Request& request() const { return message_.request; }
  const Status& error() const { return error_; }
  /// The position up to which the log must be durable before the reply may be sent; 0: nothing to wait for.
  uint64_t durable_at() const { return message_.answerable ? reply_.durable_at : 0; }
  /// True if the connection must be closed after the reply.
  bool close() const { return close_; }

 private:
  Handler& handler_;
  Message message_;
  Buffer scratch_;
  MemoryCharge scratch_charge_{MemoryHolder::kMessages};
  Status error_;
  commands::Reply reply_;
  ReplyFrame frame_;
  int32_t replies_ = 0;
  bool framed_ = false;
  bool close_ = false;
};

}  // namespace braid::wire
