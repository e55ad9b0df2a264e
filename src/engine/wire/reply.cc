#include "engine/wire/reply.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/bson/builder.h"
#include "engine/wire/crc32c.h"

namespace braid::wire {
namespace {

constexpr size_t kCopyBytesMax = 16 * 1024;  // below, one copy is cheaper than a second buffer in the send
constexpr size_t kKeptBytesMax = 64 * 1024;
constexpr int32_t kAwaitCapable = 8;

// Replies that may hold secrets, or that come before the compressor is agreed, are sent as they are. Sorted.
constexpr std::string_view kNeverCompressed[] = {"authenticate", "copydb",       "copydbSaslStart", "copydbgetnonce",
                                                 "createUser",   "getnonce",     "hello",           "isMaster",
                                                 "ismaster",     "saslContinue", "saslStart",       "updateUser"};

template <typename T>
void AppendNumber(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendHeader(std::string& out, const Header& header) {
  char bytes[kHeaderBytes];
  WriteHeader(header, bytes);
  out.append(bytes, sizeof(bytes));
}

// Everything of the reply before its document.
void AppendHead(std::string& out, const Message& message, uint32_t body_bytes, int32_t reply_id) {
  if (message.request.legacy_query) {
    AppendHeader(out, {kHeaderBytes + 20 + body_bytes, reply_id, message.request_id, kOpReply});
    AppendNumber<int32_t>(out, kAwaitCapable);
    AppendNumber<int64_t>(out, 0);  // cursor
    AppendNumber<int32_t>(out, 0);  // starting from
    AppendNumber<int32_t>(out, 1);  // documents
    return;
  }
  const uint32_t checksum_bytes = message.checksum ? 4 : 0;
  AppendHeader(out, {kHeaderBytes + 5 + body_bytes + checksum_bytes, reply_id, message.request_id, kOpMsg});
  AppendNumber<uint32_t>(out, message.checksum ? 1 : 0);
  out.push_back(0);  // section kind
}

}  // namespace

void ReplyFrame::Build(const Message& message, bson::View body, int32_t reply_id) {
  head_.clear();
  tail_.clear();
  if (message.compressor &&
      !std::binary_search(std::begin(kNeverCompressed), std::end(kNeverCompressed), message.request.name)) {
    return BuildCompressed(message, body, reply_id);
  }
  AppendHead(head_, message, body.size(), reply_id);
  std::string_view apart = body.bytes();
  if (apart.size() <= kCopyBytesMax) {
    head_.append(apart);
    apart = {};
  }
  if (message.checksum && !message.request.legacy_query) {
    AppendNumber<uint32_t>(apart.empty() ? head_ : tail_, Crc32c(apart, Crc32c(head_)));
  }
  parts_ = {head_, apart, tail_};
  BRAID_ASSERT(size() == ReadHeader(head_).length);
}

void ReplyFrame::BuildCompressed(const Message& message, bson::View body, int32_t reply_id) {
  AppendHead(tail_, message, body.size(), reply_id);  // tail_ serves as the place of the uncompressed message
  tail_.append(body.bytes());
  if (message.checksum && !message.request.legacy_query) AppendNumber<uint32_t>(tail_, Crc32c(tail_));
  const Header plain = ReadHeader(tail_);
  BRAID_ASSERT(tail_.size() == plain.length);
  AppendHeader(head_, {0, reply_id, message.request_id, kOpCompressed});
  AppendNumber<int32_t>(head_, plain.op_code);
  AppendNumber<uint32_t>(head_, plain.length - kHeaderBytes);
  head_.push_back(static_cast<char>(*message.compressor));
  Compress(*message.compressor, std::string_view(tail_).substr(kHeaderBytes), head_);
  WriteHeader({static_cast<uint32_t>(head_.size()), reply_id, message.request_id, kOpCompressed}, head_.data());
  // The reply may wait long for its client: only the bytes to send are kept.
  if (tail_.capacity() > kKeptBytesMax) std::string().swap(tail_);
  if (head_.capacity() > kKeptBytesMax) head_.shrink_to_fit();
  parts_ = {head_, {}, {}};
}

void ReplyFrame::Shrink() {
  parts_ = {};
  for (std::string* kept : {&head_, &tail_}) {
    if (kept->capacity() > kKeptBytesMax) std::string().swap(*kept);
  }
}

}  // namespace braid::wire
