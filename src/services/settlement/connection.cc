#include "services/settlement/connection.h"

#include <poll.h>

#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/strings.h"
#include "services/settlement/listener.h"

namespace braid::settlement {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kLengthBytes = 4;
constexpr std::chrono::seconds kLingerMost{1};
constexpr int kSilentMillis = 100;

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
  Linger();
}

void Connection::Close() {
  error_code ignored;
  socket_.close(ignored);
}

void Connection::Shutdown(Socket::shutdown_type what) {
  error_code ignored;
  socket_.shutdown(what, ignored);
}

void Connection::Read() {
  std::string bytes;  // that are not submitted yet
  std::string piece(kReadBytes, '\0');
  bool readable = true;
  for (;;) {
    bytes.erase(0, SubmitMessages(bytes, readable));
    if (!readable || !AwaitBytes()) return;
    error_code error;
    const size_t more = socket_.read_some(asio::buffer(piece), error);
    client_ended_ = error.failed();
    if (client_ended_) return;
    bytes.append(piece, 0, more);
  }
}

// False: there is something else to do than to read. A shutdown of the reading side would wake the reader too, but some
// kernels go on to take in bytes after it, without end if the client sends without end.
bool Connection::AwaitBytes() {
  pollfd waited[] = {{stop_.fd(), POLLIN, 0}, {socket_.native_handle(), POLLIN, 0}};
  while (::poll(waited, 2, -1) < 0 && errno == EINTR) continue;
  return waited[0].revents == 0;
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

// To close a socket while there are bytes that were not read resets the connection, and the client may lose replies
// that are on their way. So what a client still sends is read and dropped, until it falls silent or for a second.
void Connection::Linger() {
  Shutdown(Socket::shutdown_send);
  std::string dropped(kReadBytes, '\0');
  const auto end = std::chrono::steady_clock::now() + kLingerMost;
  pollfd waited = {socket_.native_handle(), POLLIN, 0};
  error_code error;
  while (!client_ended_ && !error && std::chrono::steady_clock::now() < end) {
    if (::poll(&waited, 1, kSilentMillis) <= 0) return;
    socket_.read_some(asio::buffer(dropped), error);
  }
}

}  // namespace braid::settlement
