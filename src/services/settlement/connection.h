// One connection of the listener: messages in, replies out in the order of the messages, until the peer or the service
// ends it (format: listener.h).
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "braid/status.h"
#include "services/settlement/listener.h"
#include "services/settlement/service.h"

namespace braid::settlement {

/// A signal that threads can wait for together with a socket. Once raised it stays so: fd() is readable for every
/// thread that polls it, now or later. Any thread.
class StopSignal {
 public:
  StopSignal() = default;
  ~StopSignal() {
    if (fd_ >= 0) ::close(fd_);
  }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Before anything else.
  Status Open() {
    fd_ = ::eventfd(0, EFD_CLOEXEC);
    if (fd_ >= 0) return {};
    return Status(Code::kInternalError, StrCat("cannot make an event file descriptor: ", strerror(errno)));
  }
  void Raise() {
    BRAID_ASSERT(fd_ >= 0);  // Open() comes first
    ::eventfd_write(fd_, 1);
  }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

/// Answers come in any order from any thread and leave in the order of their numbers, as bytes (format: listener.h).
class Replies {
 public:
  explicit Replies(uint32_t due_max) : due_max_(due_max) {}

  /// Before each message: waits until fewer than due_max are due. False after Abandon().
  bool AwaitRoom();
  void Add(const Answer& answer);
  /// Called after the last message.
  void End();
  /// The replies cannot be sent any more: wakes all waiting threads.
  void Abandon();
  /// Waits for the next reply and returns all consecutive replies that are ready; empty after the last.
  std::string Take();

 private:
  const uint32_t due_max_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::optional<std::string>> due_ BRAID_GUARDED_BY(mu_);  // the front is of number first_
  uint64_t first_ BRAID_GUARDED_BY(mu_) = 1;
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  bool abandoned_ BRAID_GUARDED_BY(mu_) = false;
};

/// One reply.
std::string EncodeReply(const Answer& answer);

/// Reads messages, submits them and sends the replies.
class Connection {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// Reads nothing more once `stop` is raised; it must outlive this, as must the options.
  Connection(Settlement& settlement, Socket socket, const ListenerOptions& options, const StopSignal& stop);

  /// Returns when every message that was read is answered and the client has its replies or is gone. Reading ends when
  /// the client closes its side, at a length out of range, or at the signal to stop. Reads on this thread and writes on
  /// another.
  void Run();
  /// Drops the connection, even if replies are still due. Any thread.
  void Abort() { Shutdown(Socket::shutdown_both); }
  /// After Run(); not at the same time as Abort().
  void Close();
  Totals totals() const { return intake_.totals(); }

 private:
  void Reply(const Answer& answer);
  void Shutdown(Socket::shutdown_type what);
  void Read();
  bool AwaitBytes();
  size_t SubmitMessages(std::string_view bytes, bool& readable);
  void RefuseLength(uint32_t length);
  void Write();
  void Linger();

  Socket socket_;
  const std::string source_;
  const ListenerOptions& options_;
  const StopSignal& stop_;
  Replies replies_;
  Intake intake_;
  uint64_t messages_ = 0;
  bool client_ended_ = false;  // or is gone
};

}  // namespace braid::settlement
