#include "engine/wire/session.h"

#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "base/assert.h"
#include "base/log.h"

namespace braid::wire {
namespace {

namespace asio = boost::asio;

constexpr size_t kReadAtOnceMax = 64 * 1024;  // a small message: parsing it is not worth another stack
constexpr size_t kUnpackedAtOnceMax = 1 << 20;
constexpr size_t kReceivedAtOnceMax = 256 * 1024;  // then the loop's other connections have their turn
constexpr size_t kReadOnLoopMax = 256 * 1024;      // a larger message takes milliseconds, and its request many more
constexpr uint64_t kMovedMin = 64 * 1024;          // of a message or reply between two looks; less is a stalled client

bool IsHandshake(std::string_view command) {
  return command == "hello" || command == "isMaster" || command == "ismaster";
}

// Replies that the thread which has synced sends itself, one after another. Waking a loop for a few of them costs more
// than sending them; with many the loops share the work, and the next sync does not wait for it.
constexpr size_t kSentBySyncer = 16;

// A copyable callback, as std::function requires, around a handler that can only be moved. The handler continues on the
// calling thread, unless that is a loop's thread, which is inside a request then.
template <typename Handler>
std::function<void(Status, size_t)> GoOnThere(const Executor& executor, Handler handler) {
  auto shared = std::make_shared<Handler>(std::move(handler));
  return [executor, shared](Status status, size_t turn) {
    if (turn < kSentBySyncer && !Loops::IsLoopThread()) return (*shared)(std::move(status));
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
      exchange_(host.handler()),
      fiber_([this] { ContinueSoon(); }, [this] { RunInLane(); }) {
  boost::system::error_code ignored;  // optional: each improves performance only
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
    const Result<std::string_view> next = self.input_.Next(self.bytes_max());
    // The thread that has synced must do no more than send the reply.
    const bool is_idle = next.ok() && next->empty() && !self.host_.stopping();
    if (!is_idle && !Loops::IsLoopThread()) co_await asio::post(self.socket_.get_executor(), kAwaitValue);
    if (!next.ok()) {
      log::info("connection {} closed: {}", self.client_.id, next.error().message());
      co_return;
    }
    if (next->empty()) {
      if (self.host_.stopping()) co_return;
      self.MakeRoom();
      const auto [error, bytes] = co_await self.socket_.async_read_some(
          asio::buffer(self.input_.free_begin(), std::min(self.input_.free_size(), kReceivedAtOnceMax)), kAwait);
      if (error) co_return;
      self.input_.Arrived(bytes);
      self.NoteMoved(bytes);
      self.loop_->figures.bytes_in.fetch_add(bytes, std::memory_order_relaxed);
      continue;
    }
    self.Read(*next);
    if (!self.Placed()) {
      Spawn(std::move(session));  // reads the message again, on its new loop
      co_return;
    }
    if (!self.Run()) co_await self.AwaitAnswer();
    if (self.failure_) std::rethrow_exception(self.failure_);
    // After this the thread that has synced may continue here.
    if (self.exchange_.durable_at() > 0) co_await self.AwaitDurable();
    if (!self.exchange_.error().ok()) self.LogRefused();
    Sent sent = self.TrySend();
    self.ForgetRequest(next->size());
    if (sent == Sent::kSome) sent = co_await self.SendRest() ? Sent::kAll : Sent::kFailed;
    self.loop_->figures.active.fetch_sub(1, std::memory_order_relaxed);
    self.exchange_.Finish();
    if (sent == Sent::kFailed || self.exchange_.close() || self.refused() || self.host_.stopping()) {
      if (!Loops::IsLoopThread()) co_await asio::post(self.socket_.get_executor(), kAwaitValue);
      co_return;
    }
  }
}

// The bytes of a large message are charged as they arrive. A message that there is no memory for is discarded, and then
// answered with the error.
void Session::MakeRoom() {
  if (const size_t room = input_.RoomWanted(); room > Input::kKeptBytesMax) {
    input_refusal_ = input_charge_.Set(host_.handler().memory(), room);
    if (!input_refusal_.ok()) {
      input_charge_.Release();
      input_.Skip();
    }
  }
  input_.MakeRoom();
  waits_for_client_.store(!input_charge_.empty(), std::memory_order_relaxed);
}

// Decompressing a message or parsing a large one takes time, so it is done where requests run: the loop serves its
// other connections meanwhile.
void Session::Read(std::string_view message) {
  unread_ = {};
  waits_for_client_.store(false, std::memory_order_relaxed);
  if (input_.skipped()) {
    exchange_.Refuse(message, input_refusal_);
  } else if (!refused() && (message.size() > kReadAtOnceMax || UnpackedSize(message) > 0)) {
    unread_ = message;
  } else {
    exchange_.Read(message, bytes_max());
  }
}

void Session::ReadUnread() {
  const uint64_t unpacked = UnpackedSize(unread_);
  if (unpacked <= kUnpackedAtOnceMax || unpacked > bytes_max()) {
    exchange_.Read(unread_, bytes_max());
  } else if (const Turns::Turn turn(host_.unpacking(), place_); turn.status().ok()) {
    exchange_.Read(unread_, bytes_max());
  } else {
    exchange_.Refuse(unread_, turn.status());
  }
  unread_ = {};
}

void Session::ForgetRequest(size_t bytes) {
  exchange_.ForgetRequest();
  input_.Consume(bytes);
  if (input_.capacity() <= Input::kKeptBytesMax) input_charge_.Release();
}

void Session::LogRefused() const {
  const Status& error = exchange_.error();
  if (exchange_.close()) {
    log::info("connection {} closed: {}", client_.id, error.message());
  } else {
    log::debug("connection {}: a message was refused: {}", client_.id, error.ToString());
  }
}

// True if the reply is ready; false if the request waits for something.
bool Session::Run() {
  loop_->figures.active.fetch_add(1, std::memory_order_relaxed);
  loop_->figures.requests.fetch_add(1, std::memory_order_relaxed);
  if (refused()) {
    exchange_.Fail(refusal_);
    return true;
  }
  const bool ran = running_.exchange(true, std::memory_order_relaxed);
  BRAID_ASSERT(!ran && !begun_);  // one request at a time
  lane_time_ = {};
  lane_since_ = {};
  if (unread_.size() > kReadOnLoopMax) {
    RunInLane();
    return false;
  }
  return RunOnLoop();
}

// Runs on a thread of the loop as far as the request gets without waiting or giving way; true if it has ended. After
// false another thread may already be running it.
bool Session::RunOnLoop() {
  BRAID_ASSERT(host_.loops().OfThisThread() != nullptr);
  Loop& loop = *host_.loops().OfThisThread();
  const bool taken = loop.TryTake();
  if (!taken && !IsQuick()) {
    RunInLane();
    return false;
  }
  const bool ended = RunStretch({.at_most = host_.loops().first_turn()});
  if (taken) loop.GiveBack();
  if (ended) loop.figures.quick.fetch_add(1, std::memory_order_relaxed);
  loop.RunResumed();  // often what waited for a lock of this one
  return ended;
}

// Of a message that was not read yet nothing is known.
bool Session::IsQuick() const {
  return unread_.empty() && (!exchange_.error().ok() || host_.handler().IsQuick(exchange_.request()));
}

bool Session::RunStretch(const Fiber::Turn& turn) {
  const Loops::Busy busy(host_.loops());
  return std::exchange(begun_, true) ? fiber_.Resume(turn) : fiber_.Run(answer_, turn);
}

void Session::RunInLane() {
  LeaveLane();
  host_.loops().lane().Push(lane_past_ + lane_time_, [this](const Fiber::Turn& turn) {
    lane_since_ = Lane::Time::now();
    if (RunStretch(turn)) asio::post(socket_.get_executor(), [this] { Answered(); });
  });
}

// The stretch in the lane, if it was one, has ended.
void Session::LeaveLane() {
  if (lane_since_ == Lane::Time::time_point()) return;
  lane_time_ += Lane::Time::now() - lane_since_;
  lane_since_ = {};
}

void Session::Answer() {
  try {
    if (!unread_.empty()) ReadUnread();
    exchange_.Run(client_);
    exchange_.Prepare();
  } catch (...) {  // no exception can leave the fiber; the coroutine throws it again
    failure_ = std::current_exception();
  }
  LeaveLane();
  lane_past_ = std::min<std::chrono::nanoseconds>(std::max(lane_past_ * 7 / 8, lane_time_), kPastMax);
  running_.store(false, std::memory_order_relaxed);
  begun_ = false;
}

Task Session::AwaitAnswer() {
  return asio::async_initiate<const AwaitValue, void()>(
      [this](auto handler) {
        answered_ = [shared = std::make_shared<decltype(handler)>(std::move(handler))] { (*shared)(); };
        // Another thread of the loop may have continued the request meanwhile.
        if (answer_or_await_.exchange(true)) asio::post(socket_.get_executor(), [this] { GoOn(); });
      },
      AwaitValue());
}

// On the loop whose request has let this one go on, if it was one: to wake another loop for each lock that is handed on
// costs more than most requests.
void Session::ContinueSoon() {
  Loop* const here = host_.loops().OfThisThread();
  (here != nullptr ? *here : *loop_).Resume([this] { Continue(); });
}

void Session::Continue() {
  lane_since_ = {};  // it has waited
  if (RunOnLoop()) Answered();
}

void Session::Answered() {
  if (answer_or_await_.exchange(true)) GoOn();
}

void Session::GoOn() {
  BRAID_ASSERT(answered_ != nullptr);
  answer_or_await_.store(false);
  std::exchange(answered_, nullptr)();
}

void Session::InterruptIfClosed() {
  // A server that stops has closed one direction itself.
  if (!running_.load(std::memory_order_relaxed) || host_.stopping()) return;
  // Also if there are further requests that nobody has read: their replies are not waited for either.
  pollfd peer{.fd = fd_, .events = POLLRDHUP, .revents = 0};
  if (::poll(&peer, 1, 0) == 1 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
    host_.handler().Interrupt(client_);
    host_.unpacking().Abandon(place_);
  }
}

void Session::CloseIfStalled() {
  if (!waits_for_client_.load(std::memory_order_relaxed)) {
    moved_before_ = UINT64_MAX;
    return;
  }
  const uint64_t moved = moved_.load(std::memory_order_relaxed);
  const uint64_t before = std::exchange(moved_before_, moved);
  if (before == UINT64_MAX || moved - before >= kMovedMin) return;
  log::warn("connection {} closed: memory is short, and its client neither ends its message nor reads its reply",
            client_.id);
  ::shutdown(fd_, SHUT_RDWR);
}

Task Session::AwaitDurable() {
  const Status status = co_await asio::async_initiate<const AwaitValue, void(Status)>(
      [this](auto handler) {
        host_.handler().WhenDurable(exchange_.durable_at(), GoOnThere(socket_.get_executor(), std::move(handler)));
      },
      AwaitValue());
  if (!status.ok()) exchange_.Fail(status);
}

// Most replies fit the socket's buffer: then the event loop is not involved.
Session::Sent Session::TrySend() {
  if (!exchange_.Frame()) return Sent::kAll;
  const ReplyFrame& frame = exchange_.frame();
  loop_->figures.bytes_out.fetch_add(frame.size(), std::memory_order_relaxed);
  boost::system::error_code error;
  sent_ = frame.parts()[1].empty() ? socket_.write_some(asio::buffer(frame.parts()[0]), error)
                                   : socket_.write_some(Unsent(frame, 0), error);
  if (error && error != asio::error::would_block) return Sent::kFailed;
  BRAID_ASSERT(sent_ <= frame.size());
  return sent_ == frame.size() ? Sent::kAll : Sent::kSome;
}

asio::awaitable<bool, Executor> Session::SendRest() {
  exchange_.ReleaseCharge();
  MemoryCharge charge(MemoryHolder::kReplies);
  if (const Status status = charge.Set(host_.handler().memory(), exchange_.frame().size()); !status.ok()) {
    log::warn("connection {} closed, it does not read its reply: {}", client_.id, status.message());
    co_return false;
  }
  waits_for_client_.store(true, std::memory_order_relaxed);
  boost::system::error_code failed;
  while (!failed && sent_ < exchange_.frame().size()) {
    const auto [error, bytes] = co_await socket_.async_write_some(Unsent(exchange_.frame(), sent_), kAwait);
    failed = error;
    sent_ += bytes;
    NoteMoved(bytes);
  }
  waits_for_client_.store(false, std::memory_order_relaxed);
  co_return !failed;
}

// The loops share the work best if the connections that do work are spread evenly; a driver's monitors do none. So a
// connection is counted, and may move to another loop, at its first command after the handshake. False if it moved.
bool Session::Placed() {
  if (working_ || (unread_.empty() && IsHandshake(exchange_.command()))) return true;
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
