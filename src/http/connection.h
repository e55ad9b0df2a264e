// Connection: one client's requests, one after another. Only for server.cc: it includes Asio and Beast.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <memory>

#include "http/server.h"

namespace braid::http {

/// The state that the connections of a server share.
struct Shared {
  ServerOptions options;
  Handler* handler = nullptr;
  std::atomic<bool> stopping = false;
};

/// The threads that run requests. Changes may wait for locks that others hold, so reads have threads of their own.
struct Workers {
  explicit Workers(const ServerOptions& options)
      : reads(options.workers), changes(options.change_workers), slow(options.long_workers) {}
  void Join() {
    reads.join();
    changes.join();
    slow.join();
  }

  boost::asio::thread_pool reads;
  boost::asio::thread_pool changes;
  boost::asio::thread_pool slow;  // for requests that take long

  std::atomic<int64_t> waiting{0};  // requests that wait for one of them
  std::atomic<int64_t> waited_nanos{0};
};

/// Owned by the coroutine that runs it, and for a moment by the thread that stops the server. All of it runs on one
/// strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  Connection(Socket socket, Shared& shared, Workers& workers);

  boost::asio::awaitable<void> Run();
  /// For a connection beyond the limit: answers 503 and closes it.
  boost::asio::awaitable<void> Refuse();
  /// Closes it if it is idle, or in any case; from any thread.
  void Close(bool even_if_busy);

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  using Error = boost::system::error_code;

  boost::asio::awaitable<bool> AwaitRequest();
  boost::asio::awaitable<bool> RunOne();
  boost::asio::thread_pool& WorkersFor(const Exchange& exchange) const;
  boost::asio::awaitable<std::optional<Response>> ReadBody(std::string& body);
  boost::asio::awaitable<std::optional<Response>> ReadStream(Exchange& exchange);
  boost::asio::awaitable<std::optional<Response>> TakePart(Exchange& exchange, const std::string& part);
  boost::asio::awaitable<Response> FinishBody(Exchange& exchange, std::string body);
  boost::asio::awaitable<Error> ReadSome(std::string& chunk, size_t& size);
  boost::asio::awaitable<bool> SendContinue();
  boost::asio::awaitable<bool> Send(Response response, bool with_body, bool keep_alive);
  boost::asio::awaitable<bool> SendProduced(Response& response, bool chunked);
  boost::asio::awaitable<bool> SendFeed(Feed& feed, bool chunked);
  boost::asio::awaitable<bool> WritePart(const std::string& part, bool chunked, bool last);
  static boost::asio::awaitable<void> Produce(Producer& producer, std::string& out, Result<bool>& more);
  boost::asio::awaitable<void> Linger();
  std::string HeaderOf(const Response& response, bool keep_alive, bool chunked) const;

  Shared& shared_;
  Workers& workers_;
  boost::beast::tcp_stream stream_;
  boost::asio::steady_timer news_;  // cancelled when a feed has more
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::chrono::steady_clock::time_point body_deadline_;
  std::chrono::steady_clock::time_point queued_at_;  // for a worker
  unsigned version_ = 11;
  uint64_t bytes_read_ = 0;     // of the body of this request
  uint64_t bytes_written_ = 0;  // of its response
  bool idle_ = true;
};

}  // namespace braid::http
