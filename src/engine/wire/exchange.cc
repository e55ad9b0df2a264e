#include "engine/wire/exchange.h"

#include "base/strings.h"
#include "engine/bson/builder.h"

namespace braid::wire {
namespace {
constexpr size_t kScratchKeptMax = 64 * 1024;
constexpr size_t kQuicklyCompressedMax = 16 * 1024;
}  // namespace

void Exchange::Read(std::string_view message, uint64_t bytes_max) {
  const uint64_t unpacked = UnpackedSize(message);
  if (unpacked > bytes_max) {
    return Refuse(message, {Code::kInvalidLength,
                            StrCat("the compressed message claims ", unpacked, " bytes, the limit is ", bytes_max)});
  }
  if (unpacked > kScratchKeptMax) {
    const Status charged = scratch_charge_.Set(handler_.memory(), unpacked);
    if (!charged.ok()) return Refuse(message, charged);
  }
  reply_.durable_at = 0;
  close_ = false;
  framed_ = false;
  error_ = Parse(message, scratch_, message_);
  if (error_.ok()) return;
  reply_.body = bson::ErrorReply(error_);
  close_ = IsFatal(error_.code());
}

void Exchange::Refuse(std::string_view head, const Status& status) {
  const bool form_known = ParseHead(head, message_);
  if (IsFatal(status.code())) message_.answerable = false;
  error_ = status;
  reply_ = {.body = bson::ErrorReply(status)};
  framed_ = false;
  close_ = !form_known || IsFatal(status.code());
}

void Exchange::Run(commands::Client& client) {
  if (!error_.ok()) return;
  reply_ = handler_.Run(client, message_.request);
  close_ = reply_.close_connection;
}

void Exchange::Prepare() {
  if (message_.compressor && reply_.body.bytes().size() > kQuicklyCompressedMax) Frame();
}

void Exchange::Fail(const Status& status) {
  reply_.body = bson::ErrorReply(status);
  framed_ = false;
}

bool Exchange::Frame() {
  if (!message_.answerable || reply_.close_connection) return false;
  if (framed_) return true;
  frame_.Build(message_, reply_.body, ++replies_);
  framed_ = true;
  // A large body is either a part of the frame or was compressed into it.
  if (frame_.parts()[1].empty() && reply_.body.bytes().size() > kQuicklyCompressedMax) reply_.body = {};
  return true;
}

void Exchange::ForgetRequest() {
  scratch_.Shrink(kScratchKeptMax, 0, 0);
  scratch_charge_.Release();
}

void Exchange::Finish() {
  ForgetRequest();
  frame_.Shrink();
  reply_ = {};
}

}  // namespace braid::wire
