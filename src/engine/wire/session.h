// Session: one connection. A coroutine that reads a message, has it answered, sends the reply, and starts again.
#pragma once

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "base/fiber.h"
#include "engine/wire/exchange.h"
#include "engine/wire/input.h"
#include "engine/wire/loops.h"
#include "engine/wire/turns.h"

namespace braid::wire {

// Concrete executors: the type-erased default costs an indirection and a reference count at every step.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using Task = boost::asio::awaitable<void, Executor>;
using AwaitValue = boost::asio::use_awaitable_t<Executor>;
using Await = boost::asio::as_tuple_t<AwaitValue>;  // errors as values, not as exceptions
inline constexpr Await kAwait{};
inline constexpr AwaitValue kAwaitValue{};

class Session;

/// The services that sessions need from their server.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  virtual Handler& handler() = 0;
  virtual Loops& loops() = 0;
  /// For decompressing large messages.
  virtual Turns& unpacking() = 0;
  /// True from the moment the server stops: a session then ends after the reply it owes.
  virtual bool stopping() const = 0;
  /// Called once, before the socket is closed.
  virtual void Ended(Session& session) = 0;
};

/// Owned by its coroutine, which one thread at a time runs: one of its loop or, after a wait, one of the loop that has
/// let its request go on, or the one that has synced, to send the reply. Another thread may use socket_fd() until
/// Ended() is called.
class Session {
 public:
  /// `refusal`, if not OK, is the answer to the client's first request; then the connection is closed.
  Session(SessionHost& host, Loop& loop, Socket socket, std::string remote, Status refusal);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Starts the coroutine on the session's loop.
  static void Spawn(std::unique_ptr<Session> session);

  int socket_fd() const { return fd_; }
  bool refused() const { return !refusal_.ok(); }
  /// Interrupts the request that is being run, if the client has closed the connection meanwhile. Any thread, until
  /// Ended() is called.
  void InterruptIfClosed();
  /// Closes the connection if it holds memory for a message or a reply of which too little has moved since the call
  /// before. One thread, until Ended() is called.
  void CloseIfStalled();

 private:
  enum class Sent { kAll, kSome, kFailed };
  static constexpr std::chrono::microseconds kNewcomerPast{10'000};
  static constexpr std::chrono::microseconds kPastMax{20'000};  // a long request does not make later ones wait for long

  static Task Serve(std::unique_ptr<Session> session);
  Task AwaitDurable();
  boost::asio::awaitable<bool, Executor> SendRest();
  uint32_t bytes_max() const { return client_.said_hello ? kMessageBytesMax : kFirstBytesMax; }
  void MakeRoom();
  void Read(std::string_view message);
  void ReadUnread();
  void ForgetRequest(size_t bytes);
  void NoteMoved(size_t bytes) {  // only the coroutine writes
    moved_.store(moved_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  void LogRefused() const;
  bool Run();
  bool RunOnLoop();
  bool IsQuick() const;
  bool RunStretch(const Fiber::Turn& turn);
  void RunInLane();
  void LeaveLane();
  void Answer();
  void Answered();
  Task AwaitAnswer();
  void ContinueSoon();
  void Continue();
  void GoOn();
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
  MemoryCharge input_charge_{MemoryHolder::kMessages};
  Status input_refusal_;     // why a message is skipped
  std::string_view unread_;  // a message that is read where the request is run; empty: it was read
  Turns::Place place_;
  // A request that waits for another one's lock gives its thread back (Run() is false) and goes on in Continue(); one
  // that has run long enough goes on in the lane of long requests (lane.h).
  Fiber fiber_;
  const std::function<void()> answer_ = [this] { Answer(); };
  std::exception_ptr failure_;                 // of the request
  std::function<void()> answered_;             // resumes the coroutine
  std::atomic<bool> answer_or_await_{false};   // one of both: answer ready, coroutine awaits it
  std::atomic<uint64_t> moved_{0};             // bytes of messages and of replies that were not sent at once
  std::atomic<bool> waits_for_client_{false};  // with memory that is charged
  uint64_t moved_before_ = UINT64_MAX;         // of CloseIfStalled: nothing to compare with
  std::atomic<bool> running_{false};           // a request is being run
  bool begun_ = false;                         // so far that its fiber can be resumed
  // Time in the lane: of the request, and of the longest request of late. A connection that is new has not shown yet
  // that its requests are short.
  std::chrono::nanoseconds lane_time_{0};
  std::chrono::nanoseconds lane_past_ = kNewcomerPast;
  std::chrono::steady_clock::time_point lane_since_{};  // when the stretch in the lane began; zero: it is not there
  size_t sent_ = 0;                                     // bytes of the reply
  bool working_ = false;                                // has sent more than a handshake; counted in loop_->working
};

}  // namespace braid::wire
