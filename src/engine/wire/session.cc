#include "engine/wire/session.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "base/log.h"

namespace braid::wire {
namespace {

namespace asio = boost::asio;

bool IsHandshake(std::string_view command) {
  return command == "hello" || command == "isMaster" || command == "ismaster";
}

// A callback that can be copied, as std::function demands, around a handler that can only be moved.
template <typename Handler>
std::function<void(Status)> PostTo(const Executor& executor, Handler handler) {
  auto shared = std::make_shared<Handler>(std::move(handler));
  return [executor, shared](Status status) {
    asio::post(executor, [shared, status = std::move(status)]() mutable { (*shared)(std::move(status)); });
  };
}

// The parts of the reply without the first `skip` bytes.
std::array<asio::const_buffer, 3> Unsent(const ReplyFrame& frame, size_t skip) {
  std::array<asio::const_buffer, 3> buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const std::string_view part = frame.parts()[i];
    const size_t skipped = std::min(skip, part.size());
    buffers[i] = asio::buffer(part.data() + skipped, part.size() - skipped);
    skip -= skipped;
  }
  return buffers;
}

}  // namespace

Session::Session(SessionHost& host, Loop& loop, Socket socket, std::string remote, Status refusal)
    : host_(host),
      loop_(&loop),
      socket_(std::move(socket)),
      fd_(socket_.native_handle()),
      refusal_(std::move(refusal)),
      exchange_(host.handler()) {
  boost::system::error_code ignored;  // each is an improvement, not a need
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  socket_.non_blocking(true, ignored);
  if (!refused()) client_ = host_.handler().Connect(std::move(remote));
  loop_->connections.fetch_add(1, std::memory_order_relaxed);
}

Session::~Session() {
  if (!refused()) host_.handler().Disconnect(client_);
  loop_->connections.fetch_sub(1, std::memory_order_relaxed);
  if (working_) loop_->working.fetch_sub(1, std::memory_order_relaxed);
  host_.Ended(*this);
}

void Session::Spawn(std::unique_ptr<Session> session) {
  const Executor executor = session->loop_->context().get_executor();
  asio::co_spawn(executor, Serve(std::move(session)), [](const std::exception_ptr& failure) {
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {  // out of memory, most likely
      log::error("a connection was closed by an error of the server: {}", e.what());
    }
  });
}

Task Session::Serve(std::unique_ptr<Session> session) {
  Session& self = *session;
  while (true) {
    const Result<std::string_view> next = self.input_.Next();
    if (!next.ok()) {
      log::info("connection {} closed: {}", self.client_.id, next.error().message());
      co_return;
    }
    if (next->empty()) {
      if (self.host_.stopping()) co_return;
      self.input_.MakeRoom();
      const auto [error, bytes] = co_await self.socket_.async_read_some(
          asio::buffer(self.input_.free_begin(), self.input_.free_size()), kAwait);
      if (error) co_return;
      self.input_.Arrived(bytes);
      self.loop_->figures.bytes_in.fetch_add(bytes, std::memory_order_relaxed);
      continue;
    }
    self.exchange_.Read(*next);
    if (!self.Placed()) {
      Spawn(std::move(session));  // reads the message again, on its new loop
      co_return;
    }
    self.Run();
    if (self.exchange_.durable_at() > 0) co_await self.AwaitDurable();
    Sent sent = self.TrySend();
    if (sent == Sent::kSome) sent = co_await self.SendRest() ? Sent::kAll : Sent::kFailed;
    self.loop_->figures.active.fetch_sub(1, std::memory_order_relaxed);
    self.exchange_.Finish();
    self.input_.Consume(next->size());
    if (sent == Sent::kFailed || self.exchange_.close() || self.refused() || self.host_.stopping()) co_return;
  }
}

void Session::Run() {
  loop_->figures.active.fetch_add(1, std::memory_order_relaxed);
  loop_->figures.requests.fetch_add(1, std::memory_order_relaxed);
  if (!exchange_.error().ok()) {
    log::debug("connection {}: a message was refused: {}", client_.id, exchange_.error().ToString());
  }
  if (refused()) return exchange_.Fail(refusal_);
  const Loops::Busy busy(host_.loops());
  exchange_.Run(client_);
}

Task Session::AwaitDurable() {
  const Status status = co_await asio::async_initiate<const AwaitValue, void(Status)>(
      [this](auto handler) {
        host_.handler().WhenDurable(exchange_.durable_at(), PostTo(socket_.get_executor(), std::move(handler)));
      },
      AwaitValue());
  if (!status.ok()) exchange_.Fail(status);
}

// Most replies fit the socket's buffer: then the event loop need not hear of them.
Session::Sent Session::TrySend() {
  if (!exchange_.Frame()) return Sent::kAll;
  const ReplyFrame& frame = exchange_.frame();
  loop_->figures.bytes_out.fetch_add(frame.size(), std::memory_order_relaxed);
  boost::system::error_code error;
  sent_ = frame.parts()[1].empty() ? socket_.write_some(asio::buffer(frame.parts()[0]), error)
                                   : socket_.write_some(Unsent(frame, 0), error);
  if (error && error != asio::error::would_block) return Sent::kFailed;
  return sent_ == frame.size() ? Sent::kAll : Sent::kSome;
}

asio::awaitable<bool, Executor> Session::SendRest() {
  const auto [error, bytes] = co_await asio::async_write(socket_, Unsent(exchange_.frame(), sent_), kAwait);
  co_return !error;
}

// The loops share the work best if those connections are spread evenly that do work, and a driver's monitors do not. So
// a connection is counted, and may move, at its first command after the handshake. False: it moved.
bool Session::Placed() {
  if (working_ || IsHandshake(exchange_.command())) return true;
  working_ = true;
  Loop& target = host_.loops().Least(&Loop::working);
  target.working.fetch_add(1, std::memory_order_relaxed);
  if (&target == loop_) return true;
  boost::system::error_code error;
  const auto protocol = socket_.local_endpoint(error).protocol();
  const int fd = socket_.release(error);
  BRAID_ASSERT(fd == fd_);
  socket_ = Socket(target.context());
  socket_.assign(protocol, fd, error);
  BRAID_ASSERT(!error);
  socket_.non_blocking(true, error);
  loop_->connections.fetch_sub(1, std::memory_order_relaxed);
  target.connections.fetch_add(1, std::memory_order_relaxed);
  loop_ = &target;
  return false;
}

}  // namespace braid::wire
