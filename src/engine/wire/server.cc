#include "engine/wire/server.h"

#include <sys/socket.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <unordered_set>

#include "base/log.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/wire/listen.h"
#include "engine/wire/session.h"

namespace braid::wire {
namespace {

namespace asio = boost::asio;

constexpr size_t kRefusedMax = 128;  // refused connections that may wait for their answer; further ones are just closed
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::seconds kInterruptGrace{5};  // from the interrupt of running requests to the cut of the sockets

std::string ToText(const asio::ip::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? StrCat("[", address, "]:", endpoint.port())
                                    : StrCat(address, ":", endpoint.port());
}

}  // namespace

class Server::Impl final : public SessionHost {
 public:
  explicit Impl(const ServerOptions& options)
      : options_(options), loops_({.loops = options.loops, .threads_max = options.threads_max}) {}

  Status Listen();
  void Serve(Handler& handler);
  void Stop();
  bson::Document Figures();
  const asio::ip::tcp::endpoint& endpoint() const { return endpoint_; }

  Handler& handler() override { return *handler_; }
  Loops& loops() override { return loops_; }
  bool stopping() const override { return stopping_.load(std::memory_order_relaxed); }
  void Ended(Session& session) override;

 private:
  Task Accept(Acceptor& acceptor);
  void Admit(Loop& loop, Socket socket, std::string remote);
  void ShutDownSockets(int how);
  bool WaitUntilIdle(std::chrono::milliseconds limit);

  const ServerOptions options_;
  Handler* handler_ = nullptr;  // set by Serve()
  Loops loops_;
  asio::ip::tcp::endpoint endpoint_;
  std::vector<Acceptor> acceptors_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<Session*> sessions_;  // this and what follows: guarded by mutex_
  size_t accept_loops_ = 0;
  size_t refused_now_ = 0;
  uint64_t created_ = 0;
  uint64_t rejected_ = 0;
  bool stopped_ = false;
};

Status Server::Impl::Listen() {
  BRAID_TRY(acceptors_, wire::Listen(options_.addresses, options_.port, loops_[0].context()));
  endpoint_ = acceptors_.front().local_endpoint();
  return {};
}

void Server::Impl::Serve(Handler& handler) {
  handler_ = &handler;
  accept_loops_ = acceptors_.size();
  for (Acceptor& acceptor : acceptors_) {
    asio::co_spawn(loops_[0].context().get_executor(), Accept(acceptor), asio::detached);
  }
}

Task Server::Impl::Accept(Acceptor& acceptor) {
  asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor> pause(
      loops_[0].context());
  while (!stopping()) {
    Loop& loop = loops_.Least(&Loop::connections);
    Socket socket(loop.context());
    asio::ip::tcp::endpoint remote;
    const auto [error] = co_await acceptor.async_accept(socket, remote, kAwait);
    if (stopping()) break;
    if (!error) {
      Admit(loop, std::move(socket), ToText(remote));
    } else if (error != asio::error::connection_aborted) {
      // Out of descriptors or memory: the connection stays in the queue, so trying again at once would spin.
      log::warn("cannot accept a connection: {}; trying again in {} ms", error.message(), kAcceptPause.count());
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kAwait);
    }
  }
  const std::lock_guard lock(mutex_);
  --accept_loops_;
  changed_.notify_all();
}

void Server::Impl::Admit(Loop& loop, Socket socket, std::string remote) {
  Status refusal;
  {
    const std::lock_guard lock(mutex_);
    if (sessions_.size() - refused_now_ >= options_.connections_max) {
      ++rejected_;
      if (refused_now_ >= kRefusedMax) return;
      ++refused_now_;
      refusal =
          Status(Code::kHostUnreachable, StrCat("too many connections: the server allows ", options_.connections_max,
                                                "; close some, or start it with a larger --max-connections"));
    }
  }
  auto session = std::make_unique<Session>(*this, loop, std::move(socket), std::move(remote), std::move(refusal));
  {
    const std::lock_guard lock(mutex_);
    ++created_;
    sessions_.insert(session.get());
    // Stop() may have gone through the sessions just before this one was there.
    if (stopping()) ::shutdown(session->socket_fd(), SHUT_RD);
  }
  Session::Spawn(std::move(session));
}

void Server::Impl::Ended(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(&session);
  if (session.refused()) --refused_now_;
  if (sessions_.empty()) changed_.notify_all();
}

// By descriptor, not through Asio's objects: those belong to the loops' threads.
void Server::Impl::ShutDownSockets(int how) {
  const std::lock_guard lock(mutex_);
  for (const Session* session : sessions_) ::shutdown(session->socket_fd(), how);
}

bool Server::Impl::WaitUntilIdle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return sessions_.empty() && accept_loops_ == 0; });
}

void Server::Impl::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  stopping_ = true;
  for (Acceptor& acceptor : acceptors_) ::shutdown(acceptor.native_handle(), SHUT_RDWR);
  ShutDownSockets(SHUT_RD);  // a session that waits for a request ends; one that answers may still send
  if (!WaitUntilIdle(options_.stop_grace)) {
    log::warn("requests still run {} ms after the server was told to stop: interrupting them",
              options_.stop_grace.count());
    handler_->BeginShutdown();
    if (!WaitUntilIdle(kInterruptGrace)) {
      ShutDownSockets(SHUT_RDWR);  // clients that do not read their replies
      while (!WaitUntilIdle(std::chrono::seconds(30)))
        log::warn("still waiting for requests that cannot be interrupted");
    }
  }
  loops_.Stop();
}

bson::Document Server::Impl::Figures() {
  uint64_t bytes_in = 0, bytes_out = 0, requests = 0;
  int64_t active = 0;
  for (size_t i = 0; i < loops_.size(); ++i) {
    const LoopFigures& figures = loops_[i].figures;
    bytes_in += figures.bytes_in.load(std::memory_order_relaxed);
    bytes_out += figures.bytes_out.load(std::memory_order_relaxed);
    requests += figures.requests.load(std::memory_order_relaxed);
    active += figures.active.load(std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  const auto current = static_cast<int64_t>(sessions_.size() - refused_now_);
  bson::Builder builder;
  builder.OpenObject("connections")
      .Append("current", static_cast<int32_t>(current))
      .Append("available", static_cast<int32_t>(std::max<int64_t>(0, options_.connections_max - current)))
      .Append("totalCreated", created_)
      .Append("rejected", rejected_)
      .Append("active", static_cast<int32_t>(active))
      .Close();
  builder.OpenObject("network")
      .Append("bytesIn", bytes_in)
      .Append("bytesOut", bytes_out)
      .Append("numRequests", requests)
      .Close();
  return builder.Finish();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { Stop(); }

Result<std::unique_ptr<Server>> Server::Listen(const ServerOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  auto impl = std::make_unique<Impl>(options);
  BRAID_CHECK_OK(impl->Listen());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::Serve(Handler& handler) { impl_->Serve(handler); }
void Server::Stop() { impl_->Stop(); }
uint16_t Server::port() const { return impl_->endpoint().port(); }
std::string Server::address() const { return ToText(impl_->endpoint()); }
bson::Document Server::Figures() const { return impl_->Figures(); }
size_t Server::threads() const { return impl_->loops().threads(); }

}  // namespace braid::wire
