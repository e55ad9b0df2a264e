// HTTP/1.1 messages over a Stream: what JSON-RPC needs of it, POST with a body, both sides.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "services/explorer/source/stream.h"

namespace braid::explorer::source {

/// The most bytes of a body, in either direction.
inline constexpr uint64_t kHttpBodyBytesMax = uint64_t{256} << 20;

struct HttpReply {
  unsigned status = 200;
  std::string body;
  bool keep_alive = true;  // the connection can be used again
};

/// The client's side of an exchange. kProtocolError if the answer is not HTTP; errors of the stream otherwise.
Result<HttpReply> PostHttp(Stream& stream, const HttpAddress& address, std::string_view body);

/// The server's side of a connection: what was read past a request belongs to the next one.
class HttpSession {
 public:
  explicit HttpSession(Stream& stream) : stream_(stream) {}

  struct Request {
    bool is_post = false;
    bool keep_alive = false;
    std::string body;
  };
  /// Waits for the next request; nothing at the end of the connection.
  Result<std::optional<Request>> Next();
  /// Sends a reply; with `bytes_max` it breaks off after that many bytes, to simulate a failure.
  Status Reply(const HttpReply& reply, size_t bytes_max = SIZE_MAX);

 private:
  Stream& stream_;
  std::string rest_;
};

}  // namespace braid::explorer::source
