// Server: accepts connections and has their requests answered by a handler.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/wire/handler.h"

namespace braid::wire {

struct ServerOptions {
  /// Addresses to listen on: IPv4 or IPv6 literals, or "localhost". Loopback only while there is no authentication.
  std::vector<std::string> addresses = {"127.0.0.1"};
  /// The port, the same for every address. 0 chooses a free one.
  uint16_t port = 27017;
  /// Connections at a time; one more is answered with an error and closed. Default 20000, at least 1.
  uint32_t connections_max = 20'000;
  /// Connections beyond them that may wait for that answer; still further ones are closed without. Default 128.
  size_t refusals_max = 128;
  /// Number of event loops; 0: one per core.
  size_t loops = 0;
  /// The most threads, including those that stand in for threads inside long requests. Default 64.
  size_t threads_max = 64;
  /// How long Stop() lets running requests go on before it interrupts them. Default 10 s.
  std::chrono::milliseconds stop_grace{10'000};

  Status Validate() const;
};

/// Thread-safe.
class Server {
 public:
  /// Opens the port: from here on clients can connect, and wait. An address in use is kHostUnreachable with what to do
  /// about it.
  static Result<std::unique_ptr<Server>> Listen(const ServerOptions& options);
  ~Server();  ///< stops

  /// Starts to answer; once. The handler must outlive Stop().
  void Serve(Handler& handler);

  /// Stops accepting, lets the requests in flight end and be answered, interrupts what lasts longer than stop_grace,
  /// closes every connection and joins the threads.
  void Stop();

  /// Replaces the limit of the options. Existing connections stay.
  void SetConnectionsMax(uint32_t count);

  uint16_t port() const;
  /// "127.0.0.1:27017", as clients write it; the first address.
  std::string address() const;
  /// {connections: {current, available, totalCreated, rejected, active}, network: {bytesIn, bytesOut, numRequests,
  /// decompression: {begun, abandoned, running, waiting}}, requestQueue: {waiting, waits, waitedMicros}}
  bson::Document Figures() const;
  /// Threads that run connections now.
  size_t threads() const;

  class Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace braid::wire
