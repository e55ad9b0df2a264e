// Message: parses the bytes of one request. Pure functions: no sockets, nothing trusted.
//
//   header         int32 messageLength | int32 requestID | int32 responseTo | int32 opCode
//   OP_MSG         uint32 flags | sections | uint32 crc?
//     a section    uint8 0, document   or   uint8 1, int32 size, cstring name, documents
//   OP_QUERY       int32 flags | cstring collection | int32 skip | int32 return | document | document?
//   OP_COMPRESSED  int32 opCode | int32 uncompressedSize | uint8 compressor | bytes
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "braid/status.h"
#include "engine/commands/request.h"
#include "engine/wire/buffer.h"
#include "engine/wire/compression.h"

namespace braid::wire {

constexpr uint32_t kHeaderBytes = 16;
constexpr uint32_t kMessageBytesMax = 48'000'000;
constexpr uint32_t kFirstBytesMax = 1u << 20;  // before the client has said hello

enum OpCode : int32_t { kOpReply = 1, kOpQuery = 2004, kOpCompressed = 2012, kOpMsg = 2013 };

struct Header {
  uint32_t length = 0;
  int32_t request_id = 0;
  int32_t response_to = 0;
  int32_t op_code = 0;
};

/// Of at least kHeaderBytes bytes.
Header ReadHeader(std::string_view bytes);
/// Writes kHeaderBytes bytes.
void WriteHeader(const Header& header, char* to);

/// The whole length of the message that starts with these bytes (at least four); kInvalidLength if outside kHeaderBytes
/// … bytes_max: then the stream cannot be read any further.
Result<uint32_t> MessageLength(std::string_view bytes, uint32_t bytes_max = kMessageBytesMax);
/// The size that a whole message claims to have when it is decompressed, header included; 0 if it is not compressed or
/// too short to say.
uint64_t UnpackedSize(std::string_view bytes);

/// The result of Parse. Filled as far as parsing got, so that an error can be answered in the form that the client
/// understands.
struct Message {
  commands::Request request;
  int32_t request_id = 0;
  bool answerable = false;  // false: no reply form is known, or none is wanted
  bool checksum = false;    // the client sent one and gets one
  std::optional<Compressor> compressor;
};

/// Reads one whole message. `scratch` takes the decompressed form; the request points into `bytes` or into it.
Status Parse(std::string_view bytes, Buffer& scratch, Message& message);

/// Describes a message whose content was not read, enough to answer with an error. `head` is its first bytes, at least
/// the header. False if the client may not expect an answer, so that the connection has to be closed after it.
bool ParseHead(std::string_view head, Message& message);

/// True for errors after which the connection must be closed: the message's frame cannot be trusted.
bool IsFatal(Code code);

namespace internal {
/// Whether an OP_MSG with these flags wants an answer, and of which form.
void ParseFlags(uint32_t flags, Message& message);
/// The two forms of a request; `body` is the message without its header.
Status ParseMsg(std::string_view whole, Message& message);
Status ParseQuery(std::string_view body, Message& message);
}  // namespace internal

}  // namespace braid::wire
