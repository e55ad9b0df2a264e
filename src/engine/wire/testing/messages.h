// Messages for the wire's tests, made by hand, valid or not.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/value.h"
#include "engine/wire/crc32c.h"
#include "engine/wire/message.h"

namespace braid::wire::test {

template <typename T>
std::string Number(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline std::string Framed(int32_t op_code, std::string_view content, int32_t request_id = 7) {
  std::string message(kHeaderBytes, '\0');
  WriteHeader({static_cast<uint32_t>(kHeaderBytes + content.size()), request_id, 0, op_code}, message.data());
  return message.append(content);
}

inline std::string Body(bson::View document) { return std::string(1, '\0').append(document.bytes()); }

inline std::string Sequence(std::string_view name, std::string_view documents) {
  std::string content = std::string(name) + '\0' + std::string(documents);
  return '\1' + Number<uint32_t>(static_cast<uint32_t>(content.size() + 4)) + content;
}

inline std::string Msg(std::string_view sections, uint32_t flags = 0, int32_t request_id = 7) {
  return Framed(kOpMsg, Number(flags) + std::string(sections), request_id);
}

/// With a right checksum.
inline std::string MsgChecked(std::string_view sections, uint32_t flags = 0) {
  std::string message = Framed(kOpMsg, Number(flags | 1) + std::string(sections) + "crc.");
  message.resize(message.size() - 4);
  return message + Number(Crc32c(message));
}

inline std::string Query(std::string_view collection, bson::View document, int32_t to_return = -1) {
  return Framed(kOpQuery, Number<int32_t>(0) + std::string(collection) + '\0' + Number<int32_t>(0) + Number(to_return) +
                              std::string(document.bytes()));
}

inline std::string Compressed(std::string_view message, Compressor compressor) {
  const Header header = ReadHeader(message);
  std::string content = Number(header.op_code) + Number(header.length - kHeaderBytes) + static_cast<char>(compressor);
  Compress(compressor, message.substr(kHeaderBytes), content);
  return Framed(kOpCompressed, content, header.request_id);
}

}  // namespace braid::wire::test
