// Beast reads the messages; this is the only file that includes it.
#include "services/explorer/source/http.h"

#include <openssl/evp.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/strings.h"

namespace braid::explorer::source {
namespace {

namespace http = boost::beast::http;

constexpr size_t kReadBytes = 64 << 10;

Status WriteAll(Stream& stream, std::string_view bytes) {
  while (!bytes.empty()) {
    BRAID_TRY(const size_t written, stream.Write(bytes));
    bytes.remove_prefix(written);
  }
  return {};
}

// Reads one message; `rest` holds bytes that were read before it and then those that were read past it. False: the
// connection ended before the message began.
template <typename Parser>
Result<bool> ReadMessage(Stream& stream, Parser& parser, std::string& rest) {
  parser.eager(true);
  parser.body_limit(kHttpBodyBytesMax);
  boost::system::error_code error;
  while (!parser.is_done()) {
    if (!rest.empty()) {
      rest.erase(0, parser.put(boost::asio::buffer(rest), error));
      if (error && error != http::error::need_more) {
        return Status(Code::kProtocolError, StrCat("not the HTTP that was expected: ", error.message()));
      }
      if (parser.is_done()) break;
    }
    const size_t before = rest.size();
    rest.resize(before + kReadBytes);
    const Result<size_t> count = stream.Read(rest.data() + before, kReadBytes);
    rest.resize(before + count.value_or(0));
    BRAID_CHECK_OK(count);
    if (*count > 0) continue;
    if (!parser.got_some() && rest.empty()) return false;
    error = {};
    parser.put_eof(error);
    if (error || !parser.is_done()) return Status(Code::kHostUnreachable, "the connection ended in a message");
  }
  return true;
}

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  text.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                  reinterpret_cast<const unsigned char*>(bytes.data()),
                                                  static_cast<int>(bytes.size()))));
  return text;
}

}  // namespace

Result<HttpReply> PostHttp(Stream& stream, const HttpAddress& address, std::string_view body) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  std::string request = StrCat("POST ", address.target, " HTTP/1.1\r\nHost: ", is_v6 ? "[" : "", address.host,
                               is_v6 ? "]:" : ":", address.port, "\r\nContent-Type: application/json\r\n");
  if (!address.authorization.empty()) request += StrCat("Authorization: Basic ", Base64(address.authorization), "\r\n");
  request += StrCat("Accept: application/json\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  BRAID_CHECK_OK(WriteAll(stream, request));
  http::response_parser<http::string_body> parser;
  std::string rest;
  BRAID_TRY(const bool whole, ReadMessage(stream, parser, rest));
  if (!whole) return Status(Code::kHostUnreachable, "the connection ended before the answer");
  return HttpReply{.status = parser.get().result_int(),
                   .body = std::move(parser.get().body()),
                   .keep_alive = parser.keep_alive() && rest.empty()};
}

Result<std::optional<HttpSession::Request>> HttpSession::Next() {
  http::request_parser<http::string_body> parser;
  BRAID_TRY(const bool whole, ReadMessage(stream_, parser, rest_));
  if (!whole) return std::optional<Request>();
  return std::optional(Request{.is_post = parser.get().method() == http::verb::post,
                               .keep_alive = parser.keep_alive(),
                               .body = std::move(parser.get().body())});
}

Status HttpSession::Reply(const HttpReply& reply, size_t bytes_max) {
  const std::string message =
      StrCat("HTTP/1.1 ", reply.status, " ", std::string_view(http::obsolete_reason(http::int_to_status(reply.status))),
             "\r\nContent-Type: application/json\r\nContent-Length: ", reply.body.size(),
             reply.keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n", reply.body);
  return WriteAll(stream_, std::string_view(message).substr(0, bytes_max));
}

}  // namespace braid::explorer::source
