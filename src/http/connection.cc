#include "http/connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include "base/log.h"
#include "base/strings.h"

namespace braid::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using std::chrono::steady_clock;

constexpr size_t kBufferBytes = 16 * 1024;
constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kStreamPartBytes = 512 * 1024;  // handed to a worker at a time
constexpr size_t kLingerBytes = 1 << 20;         // of a body that is not wanted
constexpr std::chrono::seconds kLinger{2};
constexpr std::chrono::minutes kFeedPause{1};  // a feed is looked at after this, whether it called or not

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

Request ToRequest(const beast::http::request_header<>& header) {
  Request request;
  request.method = std::string(header.method_string());
  const std::string_view target(header.target().data(), header.target().size());
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  for (const auto& field : header) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  return request;
}

// The error for bytes that are not a request.
struct Malformation {
  unsigned status;
  std::string_view code;
};
Malformation Describe(const boost::system::error_code& error) {
  if (error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow) {
    return {.status = 431, .code = "HeaderTooLarge"};
  }
  return {.status = 400, .code = "BadRequest"};
}

bool IsOfHttp(const boost::system::error_code& error) {
  static const auto& category = beast::http::make_error_code(beast::http::error::end_of_stream).category();
  return error.category() == category && error != beast::http::error::end_of_stream &&
         error != beast::http::error::partial_message;
}

std::string DateText() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

}  // namespace

Connection::Connection(Socket socket, Shared& shared, Workers& workers)
    : shared_(shared),
      workers_(workers),
      stream_(std::move(socket)),
      news_(stream_.get_executor()),
      buffer_(kBufferBytes) {
  boost::system::error_code ignored;  // optional: improves performance only
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Connection::Close(bool even_if_busy) {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this(), even_if_busy] {
    if (!self->idle_ && !even_if_busy) return;
    self->stream_.close();
    self->news_.cancel();
  });
}

asio::awaitable<void> Connection::Run() {
  try {
    while (co_await AwaitRequest()) {
      if (!co_await RunOne()) break;
    }
  } catch (const std::exception& error) {  // for example out of memory
    log::warn("an HTTP connection was closed: {}", error.what());
  }
  stream_.close();
}

asio::awaitable<void> Connection::Refuse() {
  idle_ = false;
  Response response =
      shared_.handler->Malformed(503, "TooManyConnections", "there are too many connections; try again later");
  if (co_await Send(std::move(response), true, false)) co_await Linger();
  stream_.close();
}

// False: none comes.
asio::awaitable<bool> Connection::AwaitRequest() {
  if (buffer_.size() > 0) co_return true;  // it was sent behind the one before
  idle_ = true;
  if (shared_.stopping) co_return false;
  stream_.expires_after(shared_.options.idle_timeout);
  const auto [error, size] = co_await stream_.async_read_some(buffer_.prepare(4096), kAwait);
  if (error) co_return false;
  buffer_.commit(size);
  idle_ = false;
  co_return true;
}

// One request and its response; false: the connection is to be closed.
asio::awaitable<bool> Connection::RunOne() {
  parser_.emplace();
  parser_->header_limit(shared_.options.header_bytes_max);
  parser_->body_limit(boost::none);  // ReadBody() counts
  bytes_read_ = 0;
  bytes_written_ = 0;
  stream_.expires_after(shared_.options.header_timeout);
  const auto [error, size] = co_await beast::http::async_read_header(stream_, buffer_, *parser_, kAwait);
  if (error) {
    if (!IsOfHttp(error)) co_return false;
    const Malformation what = Describe(error);
    const std::string message = StrCat("the request cannot be read: ", error.message());
    if (co_await Send(shared_.handler->Malformed(what.status, what.code, message), true, false)) co_await Linger();
    co_return false;
  }
  version_ = parser_->get().version();
  const bool head = parser_->get().method() == beast::http::verb::head;
  const std::unique_ptr<Exchange> exchange = shared_.handler->Begin(ToRequest(parser_->get()));
  std::optional<Response> response = exchange->Refusal();
  const uint64_t length = parser_->content_length().value_or(0);
  if (!response && !exchange->streamed() && length > shared_.options.body_bytes_max) {
    response = ErrorResponse(
        413, "BodyTooLarge",
        StrCat("the body has ", length, " bytes; at most ", shared_.options.body_bytes_max, " are taken"));
  }
  if (!response && !parser_->is_done()) {
    const auto expect = parser_->get()[beast::http::field::expect];
    if (beast::iequals(expect, "100-continue") && !co_await SendContinue()) co_return false;
  }
  std::string body;
  if (!response) {
    // Two statements: GCC 12 destroys what a conditional expression under co_await gives twice.
    if (exchange->streamed()) {
      response = co_await ReadStream(*exchange);
    } else {
      response = co_await ReadBody(body);
    }
  }
  const bool whole = parser_->is_done();
  if (!response && !whole) {  // the client is gone, or too slow
    exchange->Sent(0, bytes_read_, 0);
    co_return false;
  }
  if (response) {
    exchange->Seal(*response);
  } else {
    asio::thread_pool& workers = WorkersFor(*exchange);
    ++workers_.waiting;
    queued_at_ = steady_clock::now();
    response = co_await asio::co_spawn(workers, FinishBody(*exchange, std::move(body)), asio::use_awaitable);
  }
  const unsigned status = response->status;
  // Where there are no chunks, the end of what is produced is the end of the connection.
  const bool produced = response->producer != nullptr || response->feed != nullptr;
  const bool open_ended = produced && version_ < 11;
  const bool keep_alive = whole && parser_->keep_alive() && !open_ended && !shared_.stopping;
  const bool sent = co_await Send(*std::move(response), !head, keep_alive);
  exchange->Sent(status, bytes_read_, bytes_written_);
  if (sent && !whole) co_await Linger();
  co_return sent&& keep_alive;
}

asio::thread_pool& Connection::WorkersFor(const Exchange& exchange) const {
  if (exchange.takes_long()) return workers_.slow;
  const beast::http::verb method = parser_->get().method();
  const bool reads = method == beast::http::verb::get || method == beast::http::verb::head;
  return reads ? workers_.reads : workers_.changes;
}

asio::awaitable<Response> Connection::FinishBody(Exchange& exchange, std::string body) {
  --workers_.waiting;
  workers_.waited_nanos += std::chrono::nanoseconds(steady_clock::now() - queued_at_).count();
  Response response = exchange.Finish(std::move(body));
  exchange.Seal(response);
  co_return response;
}

asio::awaitable<std::optional<Response>> Connection::TakePart(Exchange& exchange, const std::string& part) {
  co_return exchange.Take(part);
}

// Reads into `chunk`; the request may be done then.
asio::awaitable<Connection::Error> Connection::ReadSome(std::string& chunk, size_t& size) {
  auto& body = parser_->get().body();
  body.data = chunk.data();
  body.size = chunk.size();
  body.more = true;
  auto deadline = steady_clock::now() + shared_.options.body_timeout;
  if (body_deadline_ != steady_clock::time_point()) deadline = std::min(deadline, body_deadline_);
  stream_.expires_at(deadline);
  auto [error, read] = co_await beast::http::async_read_some(stream_, buffer_, *parser_, kAwait);
  if (error == beast::http::error::need_buffer) error = {};
  size = chunk.size() - body.size;
  bytes_read_ += size;
  co_return error;
}

asio::awaitable<std::optional<Response>> Connection::ReadBody(std::string& body) {
  if (parser_->is_done()) co_return std::nullopt;
  body_deadline_ = steady_clock::now() + 2 * shared_.options.body_timeout;
  std::string chunk(kReadBytes, '\0');
  while (!parser_->is_done()) {
    size_t size = 0;
    const Error error = co_await ReadSome(chunk, size);
    if (error) {
      if (IsOfHttp(error)) co_return ErrorResponse(400, "BadRequest", StrCat("the body: ", error.message()));
      co_return std::nullopt;
    }
    body.append(chunk, 0, size);
    if (body.size() > shared_.options.body_bytes_max) {
      co_return ErrorResponse(413, "BodyTooLarge",
                              StrCat("the body has more than ", shared_.options.body_bytes_max, " bytes"));
    }
  }
  co_return std::nullopt;
}

// Workers get parts of a reasonable size and never wait for the client.
asio::awaitable<std::optional<Response>> Connection::ReadStream(Exchange& exchange) {
  body_deadline_ = {};
  std::string chunk(kReadBytes, '\0');
  std::string part;
  while (!parser_->is_done()) {
    size_t size = 0;
    const Error error = co_await ReadSome(chunk, size);
    if (error && IsOfHttp(error)) co_return ErrorResponse(400, "BadRequest", StrCat("the body: ", error.message()));
    part.append(chunk, 0, size);
    // The part that arrived before the client was cut off is processed too, as it would be if the cut had come later.
    if (part.size() < kStreamPartBytes && !parser_->is_done() && !error) continue;
    std::optional<Response> refusal =
        co_await asio::co_spawn(workers_.changes, TakePart(exchange, part), asio::use_awaitable);
    if (refusal || error) co_return refusal;
    part.clear();
  }
  co_return std::nullopt;
}

asio::awaitable<bool> Connection::SendContinue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  stream_.expires_after(shared_.options.write_timeout);
  const auto [error, size] = co_await asio::async_write(stream_, asio::buffer(kContinue), kAwait);
  co_return !error;
}

std::string Connection::HeaderOf(const Response& response, bool keep_alive, bool chunked) const {
  std::string header = StrCat("HTTP/1.1 ", response.status, " ", ReasonOf(response.status),
                              "\r\nServer: braid\r\nDate: ", DateText(), "\r\n");
  const bool bodiless = response.status == 204 || response.status == 304;
  if (!bodiless) header += StrCat("Content-Type: ", response.content_type, "\r\n");
  if (chunked) {
    header += "Transfer-Encoding: chunked\r\n";
  } else if (!bodiless && response.producer == nullptr && response.feed == nullptr) {
    header += StrCat("Content-Length: ", response.body.size(), "\r\n");
  }
  for (const auto& [name, value] : response.headers) header += StrCat(name, ": ", value, "\r\n");
  if (!keep_alive) {
    header += "Connection: close\r\n";
  } else if (version_ < 11) {
    header += "Connection: keep-alive\r\n";
  }
  return header + "\r\n";
}

asio::awaitable<bool> Connection::Send(Response response, bool with_body, bool keep_alive) {
  const bool produced = response.producer != nullptr || response.feed != nullptr;
  const bool chunked = produced && version_ >= 11;
  const std::string header = HeaderOf(response, keep_alive, chunked);
  const std::array<asio::const_buffer, 2> parts = {
      asio::buffer(header), asio::buffer(response.body.data(), with_body ? response.body.size() : 0)};
  const auto mebibytes = static_cast<int64_t>(response.body.size() >> 20);
  stream_.expires_after(shared_.options.write_timeout * (1 + mebibytes));
  const auto [error, size] = co_await asio::async_write(stream_, parts, kAwait);
  bytes_written_ += size;
  if (error) co_return false;
  if (!produced || !with_body) co_return true;
  if (response.feed != nullptr) co_return co_await SendFeed(*response.feed, chunked);
  co_return co_await SendProduced(response, chunked);
}

asio::awaitable<void> Connection::Produce(Producer& producer, std::string& out, Result<bool>& more) {
  more = producer.Next(out);
  co_return;
}

asio::awaitable<bool> Connection::SendProduced(Response& response, bool chunked) {
  std::string part;
  for (bool more = true; more;) {
    part.clear();
    Result<bool> next = false;
    co_await asio::co_spawn(workers_.reads, Produce(*response.producer, part, next), asio::use_awaitable);
    if (!next.ok()) {
      log::warn("an HTTP response was cut: {}", next.error().message());
      co_return false;
    }
    more = *next;
    if (!co_await WritePart(part, chunked, !more)) co_return false;
  }
  co_return true;
}

// A part of a body of unknown length.
asio::awaitable<bool> Connection::WritePart(const std::string& part, bool chunked, bool last) {
  std::string framed;
  if (chunked && !part.empty()) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), part.size(), 16).ptr;
    framed = StrCat(std::string_view(digits, static_cast<size_t>(end - digits)), "\r\n", part, "\r\n");
  }
  if (chunked && last) framed += "0\r\n\r\n";
  const std::string& bytes = chunked ? framed : part;
  stream_.expires_after(shared_.options.write_timeout * (1 + static_cast<int64_t>(bytes.size() >> 20)));
  const auto [error, size] = co_await asio::async_write(stream_, asio::buffer(bytes), kAwait);
  bytes_written_ += size;
  co_return !error;
}

// Runs until the client disconnects, reads too slowly, or the server stops. Nothing is buffered per client: samples
// that it has not taken in time are in the feed, or lost. The connection counts as idle, so that a stop closes it at
// once.
asio::awaitable<bool> Connection::SendFeed(Feed& feed, bool chunked) {
  feed.Listen([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self) asio::post(self->stream_.get_executor(), [self] { self->news_.cancel(); });
  });
  idle_ = true;
  std::string part;
  while (!shared_.stopping && stream_.socket().is_open()) {
    part.clear();
    feed.Take(part);
    if (!part.empty()) {
      if (!co_await WritePart(part, chunked, false)) break;
      continue;
    }
    // Both Take() and the wake run on the strand: none is missed between them.
    news_.expires_after(kFeedPause);
    stream_.expires_never();
    co_await news_.async_wait(kAwait);
  }
  co_return false;
}

// A client that is still sending would find the connection reset, and might never read the response.
asio::awaitable<void> Connection::Linger() {
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kLinger);
  std::string discarded(kReadBytes, '\0');
  for (size_t total = 0; total < kLingerBytes;) {
    const auto [error, size] = co_await stream_.async_read_some(asio::buffer(discarded), kAwait);
    if (error) co_return;
    total += size;
  }
}

}  // namespace braid::http
