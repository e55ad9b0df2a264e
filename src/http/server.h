// Server: HTTP/1.1 connections, whose requests a handler answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"

namespace braid::http {

struct ServerOptions {
  /// Addresses to listen on. Loopback only while there is no authentication.
  std::vector<std::string> addresses = {"127.0.0.1"};
  /// 0 chooses a free one.
  uint16_t port = 8080;
  /// Threads that read and write; they never run a request.
  size_t io_threads = 2;
  /// Threads that run GET and HEAD. A client that is slow to send or to read holds none of them.
  size_t workers = 16;
  /// Threads that run everything else, which may have to wait for locks.
  size_t change_workers = 32;
  /// Further threads for long requests, so that other requests do not wait behind them.
  size_t long_workers = 4;
  /// One more is answered with 503 and closed.
  size_t connections_max = 10'000;
  /// The request line and the header together.
  uint32_t header_bytes_max = 8 * 1024;
  /// Of a body that is not streamed.
  uint64_t body_bytes_max = 16ull << 20;
  /// A connection without a request is closed after this.
  std::chrono::milliseconds idle_timeout{60'000};
  /// The header must be there within this once it has begun.
  std::chrono::milliseconds header_timeout{10'000};
  /// A body must go on within this, and one that is not streamed must be complete within twice the time.
  std::chrono::milliseconds body_timeout{30'000};
  /// How long a client may take to read 1 MiB of a response.
  std::chrono::milliseconds write_timeout{30'000};

  Status Validate() const;
};

/// One request in progress. The connection calls its functions one after another.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// The answer if the header is enough to refuse the request: its body is not read then, and no other function is
  /// called but Sent().
  virtual std::optional<Response> Refusal() { return std::nullopt; }
  /// True if the body is passed to Take() as it arrives, however long it is; otherwise Finish() gets it as a whole.
  virtual bool streamed() const { return false; }
  /// The next part of a streamed body, on a worker's thread. A response ends the request at once.
  virtual std::optional<Response> Take(std::string_view /*part*/) { return std::nullopt; }
  /// Finish() may take long, and runs on one of the threads for such requests.
  virtual bool takes_long() const { return false; }
  /// On a worker's thread.
  virtual Response Finish(std::string body) = 0;
  /// Makes a response ready to be sent, on the thread that made it: its encoding and its header.
  virtual void Seal(Response& response) = 0;
  /// The last call, once the response was sent or could not be.
  virtual void Sent(unsigned status, uint64_t bytes_read, uint64_t bytes_written) = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// Called on a thread that reads: it must not wait for anything.
  virtual std::unique_ptr<Exchange> Begin(Request request) = 0;
  /// A response to bytes that are not a request, ready to be sent.
  virtual Response Malformed(unsigned status, std::string_view code, std::string_view message) = 0;
};

/// Thread-safe.
class Server {
 public:
  /// Opens the port. One that is in use is kHostUnreachable with what to do about it.
  static Result<std::unique_ptr<Server>> Listen(const ServerOptions& options);
  ~Server();  ///< stops

  /// Starts to answer; once. The handler must outlive the server.
  void Serve(Handler& handler);

  /// Stops accepting and closes idle connections; those with a request are closed after their response.
  void BeginStop();
  /// BeginStop(), then waits for the requests that run for at most `grace`. False: some still run.
  bool Drain(std::chrono::milliseconds grace);
  /// Closes every connection and waits for the threads; running requests must have been interrupted by then.
  void Stop();

  /// "127.0.0.1:8080", the first address.
  std::string address() const;
  struct Figures {
    uint64_t connections = 0;  // open now
    uint64_t accepted = 0;     // ever
    uint64_t rejected = 0;     // because there were too many
    int64_t waiting = 0;       // requests that wait for a worker
    std::chrono::nanoseconds waited{0};
  };
  Figures figures() const;

  class Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace braid::http
