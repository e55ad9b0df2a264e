// Session: one connection. A coroutine that reads a message, has it answered, sends the reply, and starts again.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <string>

#include "engine/wire/exchange.h"
#include "engine/wire/input.h"
#include "engine/wire/loops.h"

namespace braid::wire {

// Concrete executors: the type-erased default costs an indirection and a reference count at every step.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using Task = boost::asio::awaitable<void, Executor>;
using AwaitValue = boost::asio::use_awaitable_t<Executor>;
using Await = boost::asio::as_tuple_t<AwaitValue>;  // errors as values, not as exceptions
inline constexpr Await kAwait{};

class Session;

/// What sessions need of their server.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  virtual Handler& handler() = 0;
  virtual Loops& loops() = 0;
  /// True from the moment the server stops: a session then ends after the reply it owes.
  virtual bool stopping() const = 0;
  /// Called once, before the socket is closed.
  virtual void Ended(Session& session) = 0;
};

/// Owned by its coroutine, which one thread at a time runs. Another thread may use socket_fd() until Ended() is called.
class Session {
 public:
  /// `refusal`, if not OK, is the answer to whatever the client asks first; then the connection is closed.
  Session(SessionHost& host, Loop& loop, Socket socket, std::string remote, Status refusal);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Starts the coroutine on the session's loop.
  static void Spawn(std::unique_ptr<Session> session);

  int socket_fd() const { return fd_; }
  bool refused() const { return !refusal_.ok(); }

 private:
  enum class Sent { kAll, kSome, kFailed };

  static Task Serve(std::unique_ptr<Session> session);
  Task AwaitDurable();
  boost::asio::awaitable<bool, Executor> SendRest();
  void Run();
  Sent TrySend();
  bool Placed();

  SessionHost& host_;
  Loop* loop_;
  Socket socket_;
  const int fd_;
  const Status refusal_;
  commands::Client client_;
  Exchange exchange_;
  Input input_;
  size_t sent_ = 0;       // bytes of the reply
  bool working_ = false;  // has sent more than a handshake; counted in loop_->working
};

}  // namespace braid::wire
