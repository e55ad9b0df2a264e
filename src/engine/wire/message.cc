#include "engine/wire/message.h"

#include <cstring>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::wire {
namespace {

constexpr uint32_t kCompressedHeadBytes = 9;  // opCode, uncompressedSize, compressor

// Rebuilds the message as it was before it was compressed, header included: that is what its checksum covers.
Result<std::string_view> Unwrap(const Header& header, std::string_view body, Buffer& scratch, Message& message) {
  if (body.size() < kCompressedHeadBytes) {
    return Status(Code::kInvalidLength, StrCat("OP_COMPRESSED of ", body.size(), " bytes is too short"));
  }
  const auto op_code = bson::Load<int32_t>(body.data());
  const auto size = bson::Load<uint32_t>(body.data() + 4);
  if (op_code == kOpCompressed) return Status(Code::kProtocolError, "a compressed message inside a compressed one");
  if (size > kMessageBytesMax - kHeaderBytes) {
    return Status(Code::kInvalidLength, StrCat("the compressed message claims ", size, " bytes, the limit is ",
                                               kMessageBytesMax - kHeaderBytes));
  }
  BRAID_TRY(const Compressor compressor, CompressorOf(static_cast<uint8_t>(body[8])));
  message.compressor = compressor;
  scratch.Reserve(kHeaderBytes + size, 0);
  BRAID_CHECK_OK(Decompress(compressor, body.substr(kCompressedHeadBytes), scratch.data() + kHeaderBytes, size));
  WriteHeader({kHeaderBytes + size, header.request_id, header.response_to, op_code}, scratch.data());
  return scratch.View(0, kHeaderBytes + size);
}

void Reset(Message& message) {
  message.request.body = bson::View();
  message.request.sequences.clear();
  message.request.name = {};
  message.request.database = {};
  message.request.legacy_query = false;
  message.request.reply_wanted = true;
  message.answerable = false;
  message.checksum = false;
  message.compressor.reset();
}

}  // namespace

Header ReadHeader(std::string_view bytes) {
  BRAID_ASSERT(bytes.size() >= kHeaderBytes);
  return {bson::Load<uint32_t>(bytes.data()), bson::Load<int32_t>(bytes.data() + 4),
          bson::Load<int32_t>(bytes.data() + 8), bson::Load<int32_t>(bytes.data() + 12)};
}

void WriteHeader(const Header& header, char* to) {
  std::memcpy(to, &header.length, 4);
  std::memcpy(to + 4, &header.request_id, 4);
  std::memcpy(to + 8, &header.response_to, 4);
  std::memcpy(to + 12, &header.op_code, 4);
}

namespace {

// A TLS client hello, although there is no TLS: taken as a length, its first bytes would make the server wait for more.
bool IsTlsHello(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || bytes[0] != 0x16 || bytes[1] != 0x03 || bytes[5] != 0x01) return false;
  const int32_t op_code = ReadHeader(bytes).op_code;
  return op_code != kOpMsg && op_code != kOpCompressed && op_code != kOpQuery;
}

}  // namespace

Result<uint32_t> MessageLength(std::string_view bytes, uint32_t bytes_max) {
  if (IsTlsHello(bytes)) {
    return Status(Code::kProtocolError, "the client began with TLS, which this server does not speak");
  }
  const auto length = bson::Load<uint32_t>(bytes.data());
  if (length < kHeaderBytes || length > bytes_max) {
    return Status(Code::kInvalidLength,
                  StrCat("message length ", length, " is not within ", kHeaderBytes, " and ", bytes_max,
                         bytes_max == kFirstBytesMax ? ", the limit before the first hello" : ""));
  }
  return length;
}

uint64_t UnpackedSize(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes + kCompressedHeadBytes || ReadHeader(bytes).op_code != kOpCompressed) return 0;
  return uint64_t{kHeaderBytes} + bson::Load<uint32_t>(bytes.data() + kHeaderBytes + 4);
}

bool IsFatal(Code code) {
  return code == Code::kInvalidLength || code == Code::kProtocolError || code == Code::kIllegalOpMsgFlag ||
         code == Code::kTooManyDocumentSequences || code == Code::kChecksumMismatch;
}

bool ParseHead(std::string_view head, Message& message) {
  Reset(message);
  const Header header = ReadHeader(head);
  message.request_id = header.request_id;
  int32_t op_code = header.op_code;
  if (op_code == kOpCompressed && head.size() >= kHeaderBytes + 4) op_code = bson::Load<int32_t>(head.data() + 16);
  message.request.legacy_query = op_code == kOpQuery;
  message.answerable = op_code == kOpQuery || op_code == kOpMsg;
  if (header.op_code == kOpQuery) return true;
  if (header.op_code != kOpMsg || head.size() < kHeaderBytes + 4) return false;
  internal::ParseFlags(bson::Load<uint32_t>(head.data() + kHeaderBytes), message);
  return true;
}

Status Parse(std::string_view bytes, Buffer& scratch, Message& message) {
  Reset(message);
  if (bytes.size() < kHeaderBytes) return Status(Code::kInvalidLength, "a message without a whole header");
  Header header = ReadHeader(bytes);
  message.request_id = header.request_id;
  if (header.length != bytes.size())
    return Status(Code::kInvalidLength, "the message is not as long as its header says");
  if (header.op_code == kOpCompressed) {
    BRAID_TRY(bytes, Unwrap(header, bytes.substr(kHeaderBytes), scratch, message));
    header = ReadHeader(bytes);
  }
  switch (header.op_code) {
    case kOpMsg: return internal::ParseMsg(bytes, message);
    case kOpQuery: return internal::ParseQuery(bytes.substr(kHeaderBytes), message);
    default:
      return Status(Code::kProtocolError,
                    StrCat("opcode ", header.op_code, " is not supported: the driver must be able to speak OP_MSG"));
  }
}

}  // namespace braid::wire
