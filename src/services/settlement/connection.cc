#include "services/settlement/connection.h"

#include <boost/asio/write.hpp>

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/assert.h"
#include "base/big_endian.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::settlement {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr size_t kReasonBytesMax = 65'535;

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kLengthBytes = 4;
constexpr std::chrono::seconds kLingerMost{1};
constexpr int kSilentMillis = 100;

std::string NameOf(const Connection::Socket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  return error ? "connection" : StrCat("connection ", peer.address().to_string(), ":", peer.port());
}

}  // namespace

std::string EncodeReply(const Answer& answer) {
  std::string out;
  big_endian::Append64(out, answer.output_seq);
  out += static_cast<char>(answer.outcome);
  if (answer.outcome <= Outcome::kDuplicate) {
    out.append(reinterpret_cast<const char*>(answer.hash.data()), answer.hash.size());
    return out;
  }
  const std::string_view reason = answer.status.message().substr(0, kReasonBytesMax);
  big_endian::Append(out, reason.size(), 2);
  out += reason;
  return out;
}

bool Replies::AwaitRoom() {
  MutexLock lock(mu_);
  changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return abandoned_ || due_.size() < due_max_; });
  if (abandoned_) return false;
  BRAID_ASSERT(!ended_ && due_.size() < due_max_);
  due_.emplace_back();
  return true;
}

void Replies::Add(const Answer& answer) {
  std::string reply = EncodeReply(answer);
  const MutexLock lock(mu_);
  if (abandoned_) return;
  BRAID_ASSERT(answer.number >= first_ && answer.number - first_ < due_.size());
  due_[answer.number - first_] = std::move(reply);
  if (answer.number == first_) changed_.NotifyAll();
}

void Replies::End() {
  const MutexLock lock(mu_);
  ended_ = true;
  changed_.NotifyAll();
}

void Replies::Abandon() {
  const MutexLock lock(mu_);
  abandoned_ = true;
  due_.clear();
  changed_.NotifyAll();
}

std::string Replies::Take() {
  MutexLock lock(mu_);
  changed_.Wait(lock,
                [&]() BRAID_REQUIRES(mu_) { return abandoned_ || (due_.empty() ? ended_ : due_.front().has_value()); });
  std::string bytes;
  while (!due_.empty() && due_.front()) {
    bytes += *due_.front();
    due_.pop_front();
    ++first_;
  }
  changed_.NotifyAll();
  return bytes;
}

Connection::Connection(Settlement& settlement, Socket socket, const ListenerOptions& options, const StopSignal& stop)
    : socket_(std::move(socket)),
      source_(NameOf(socket_)),
      options_(options),
      stop_(stop),
      replies_(options.due_max),
      intake_(
          settlement, [this](const Answer& answer) { Reply(answer); }, source_) {}

void Connection::Reply(const Answer& answer) {
  if (!answer.status.ok() && options_.on_problem) options_.on_problem(source_, answer);
  Answer sent = answer;
  if (answer.status.code() == Code::kBadValue) sent.output_seq = 0;  // a line that is not an output has no sequence
  replies_.Add(sent);
}

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

// False if the reader must stop. Shutting down the reading side would wake it, too, but some kernels keep receiving
// bytes afterwards, without end if the client keeps sending.
bool Connection::AwaitBytes() {
  pollfd waited[] = {{stop_.fd(), POLLIN, 0}, {socket_.native_handle(), POLLIN, 0}};
  while (::poll(waited, 2, -1) < 0 && errno == EINTR) continue;
  return waited[0].revents == 0;
}

// Submits the complete messages and returns their size in bytes.
size_t Connection::SubmitMessages(std::string_view bytes, bool& readable) {
  size_t used = 0;
  while (bytes.size() - used >= kLengthBytes) {
    const uint32_t length = big_endian::Get32(bytes.data() + used);
    const bool allowed = length > 0 && length <= kMessageBytesMax;
    if (allowed && bytes.size() - used - kLengthBytes < length) break;
    readable = replies_.AwaitRoom() && allowed;
    if (!allowed) RefuseLength(length);
    if (!readable) break;
    ++messages_;
    intake_.Submit(bytes.substr(used + kLengthBytes, length));
    used += kLengthBytes + length;
  }
  BRAID_ASSERT(used <= bytes.size());
  return used;
}

void Connection::RefuseLength(uint32_t length) {
  Reply({.number = messages_ + 1,
         .line = messages_ + 1,
         .outcome = Outcome::kRefused,
         .status =
             Status(Code::kBadValue, StrCat("a message of ", length, " bytes; it must have 1 to ", kMessageBytesMax))});
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

// Closing a socket with unread bytes resets the connection, and the client may lose replies that are on their way. So
// further input is read and dropped, until the client stops sending or for one second.
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
