// Stream: bytes over TCP, encrypted or not, with a deadline for everything that waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"

struct ssl_st;

namespace braid::explorer::source {

/// When a wait gives up.
struct Patience {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Ends waits when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// Where an HTTP server is.
struct HttpAddress {
  bool tls = false;
  std::string host;
  uint16_t port = 80;
  std::string target = "/";   // path and query
  std::string authorization;  // "user:password"; empty: none
  std::string ca_file;        // certificates to trust; empty: those of the system

  std::string ToString() const;  ///< without user and password
};

/// http://[USER:PASSWORD@]HOST[:PORT][/PATH] or https://…; kBadValue.
Result<HttpAddress> ParseHttpAddress(std::string_view url);

/// One connection. One thread at a time, but for ShutDown(). Errors: kHostUnreachable, kNetworkTimeout, kInterrupted.
class Stream {
 public:
  static Result<std::unique_ptr<Stream>> Connect(const HttpAddress& address, const Patience& patience);
  /// A connection that was accepted; without TLS. Owns the descriptor.
  static std::unique_ptr<Stream> Accepted(int descriptor);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// For every read and write from now on.
  void SetPatience(const Patience& patience) { patience_ = patience; }
  /// Waits for at least one byte; 0 is the end.
  Result<size_t> Read(char* data, size_t size);
  /// Writes some of it, at least one byte.
  Result<size_t> Write(std::string_view data);
  /// Ends what another thread reads or writes.
  void ShutDown();

 private:
  struct FreeTls {
    void operator()(ssl_st* tls) const;
  };
  explicit Stream(int descriptor) : descriptor_(descriptor) {}
  Status StartTls(const HttpAddress& address);
  Status AwaitTls(int result, std::string_view what);
  Status Await(short events) const;

  const int descriptor_;  // does not block
  Patience patience_;
  std::unique_ptr<ssl_st, FreeTls> tls_;  // null: not encrypted
};

}  // namespace braid::explorer::source
