#include "engine/wire/exchange.h"

#include "engine/bson/error_reply.h"

namespace braid::wire {
namespace {
constexpr size_t kScratchKeptMax = 64 * 1024;
}  // namespace

void Exchange::Read(std::string_view message) {
  reply_.durable_at = 0;
  close_ = false;
  error_ = Parse(message, scratch_, message_);
  if (error_.ok()) return;
  reply_.body = bson::ErrorReply(error_);
  close_ = IsFatal(error_.code());
}

void Exchange::Run(commands::Client& client) {
  if (!error_.ok()) return;
  reply_ = handler_.Run(client, message_.request);
  close_ = reply_.close_connection;
}

void Exchange::Fail(const Status& status) { reply_.body = bson::ErrorReply(status); }

bool Exchange::Frame() {
  if (!message_.answerable || reply_.close_connection) return false;
  frame_.Build(message_, reply_.body, ++replies_);
  return true;
}

void Exchange::Finish() {
  frame_.Shrink();
  scratch_.Shrink(kScratchKeptMax, 0, 0);
  reply_ = {};
}

}  // namespace braid::wire
