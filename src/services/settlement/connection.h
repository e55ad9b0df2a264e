// One client of the TCP stream (format: listener.h).
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>

#include "services/settlement/replies.h"
#include "services/settlement/service.h"

namespace braid::settlement {

/// Reads messages, submits them and sends the replies.
class Connection {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Settlement& settlement, Socket socket, uint32_t due_max)
      : socket_(std::move(socket)),
        replies_(due_max),
        intake_(settlement, [this](const Answer& answer) { replies_.Add(answer); }) {}

  /// Returns when the client has ended its side and has its replies, or is gone. Reads on this thread and writes on
  /// another.
  void Run();
  /// From any thread: wakes whoever waits for the socket.
  void Shutdown(Socket::shutdown_type what);
  Totals totals() const { return intake_.totals(); }

 private:
  void Read();
  size_t SubmitMessages(std::string_view bytes, bool& readable);
  void RefuseLength(uint32_t length);
  void Write();

  Socket socket_;
  Replies replies_;
  Intake intake_;
  uint64_t messages_ = 0;
};

}  // namespace braid::settlement
