// One client of the TCP stream (format: listener.h).
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>

#include "services/settlement/replies.h"
#include "services/settlement/service.h"
#include "services/settlement/stop_signal.h"

namespace braid::settlement {

/// Reads messages, submits them and sends the replies.
class Connection {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// Reads nothing more once `stop` is raised; it must outlive this.
  Connection(Settlement& settlement, Socket socket, uint32_t due_max, const StopSignal& stop)
      : socket_(std::move(socket)),
        stop_(stop),
        replies_(due_max),
        intake_(settlement, [this](const Answer& answer) { replies_.Add(answer); }) {}

  /// Returns when all that was read is answered and the client has its replies or is gone; nothing more is read after
  /// the client's end of its side, a length out of range, or the signal to stop. Reads on this thread and writes on
  /// another.
  void Run();
  /// From any thread: the client is given up, whatever it is still to be sent.
  void Abort() { Shutdown(Socket::shutdown_both); }
  /// After Run(); not at the same time as Abort().
  void Close();
  Totals totals() const { return intake_.totals(); }

 private:
  void Shutdown(Socket::shutdown_type what);
  void Read();
  bool AwaitBytes();
  size_t SubmitMessages(std::string_view bytes, bool& readable);
  void RefuseLength(uint32_t length);
  void Write();
  void Linger();

  Socket socket_;
  const StopSignal& stop_;
  Replies replies_;
  Intake intake_;
  uint64_t messages_ = 0;
  bool client_ended_ = false;  // or is gone
};

}  // namespace braid::settlement
