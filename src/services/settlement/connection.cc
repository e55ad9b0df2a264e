#include "services/settlement/connection.h"

#include <boost/asio/write.hpp>
#include <thread>

#include "base/strings.h"
#include "services/settlement/listener.h"

namespace braid::settlement {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kLengthBytes = 4;

uint32_t LengthOf(std::string_view bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  return length;
}

}  // namespace

void Connection::Run() {
  std::thread writer([this] { Write(); });
  Read();
  replies_.End();
  writer.join();
  intake_.Flush();
  Shutdown(Socket::shutdown_both);
}

void Connection::Shutdown(Socket::shutdown_type what) {
  error_code ignored;
  socket_.shutdown(what, ignored);
}

void Connection::Read() {
  std::string buffer;
  bool readable = true;
  for (;;) {
    buffer.erase(0, SubmitMessages(buffer, readable));
    if (!readable) return;
    const size_t size = buffer.size();
    buffer.resize(size + kReadBytes);
    error_code error;
    const size_t more = socket_.read_some(asio::buffer(buffer.data() + size, kReadBytes), error);
    if (error) return;
    buffer.resize(size + more);
  }
}

// Submits the messages that are there in full, and gives their bytes.
size_t Connection::SubmitMessages(std::string_view bytes, bool& readable) {
  size_t used = 0;
  while (bytes.size() - used >= kLengthBytes) {
    const uint32_t length = LengthOf(bytes.substr(used));
    const bool allowed = length > 0 && length <= kMessageBytesMax;
    if (allowed && bytes.size() - used - kLengthBytes < length) break;
    readable = replies_.AwaitRoom() && allowed;
    if (!allowed) RefuseLength(length);
    if (!readable) break;
    ++messages_;
    intake_.Submit(bytes.substr(used + kLengthBytes, length));
    used += kLengthBytes + length;
  }
  return used;
}

void Connection::RefuseLength(uint32_t length) {
  replies_.Add({.number = messages_ + 1,
                .outcome = Outcome::kRefused,
                .status = Status(Code::kBadValue,
                                 StrCat("a message of ", length, " bytes; it must have 1 to ", kMessageBytesMax))});
}

void Connection::Write() {
  for (;;) {
    const std::string bytes = replies_.Take();
    if (bytes.empty()) return;
    error_code error;
    asio::write(socket_, asio::buffer(bytes), error);
    if (!error) continue;
    replies_.Abandon();
    return Shutdown(Socket::shutdown_both);  // and the reader ends too
  }
}

}  // namespace braid::settlement
