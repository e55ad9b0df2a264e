#include "engine/wire/server.h"

#include <sys/socket.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_set>

#include "base/assert.h"
#include "base/log.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "base/seldom.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/wire/listen.h"
#include "engine/wire/session.h"

namespace braid::wire {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kClosedWatchedEvery{200};
constexpr int kStalledAfterWatches = 10;            // a client that transfers nothing for this long is stalled
constexpr std::chrono::seconds kInterruptGrace{1};  // from the interrupt of running requests to the cut of the sockets

std::string ToText(const asio::ip::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? StrCat("[", address, "]:", endpoint.port())
                                    : StrCat(address, ":", endpoint.port());
}

}  // namespace

class Server::Impl final : public SessionHost {
 public:
  explicit Impl(const ServerOptions& options)
      : options_(options),
        connections_max_(options.connections_max),
        loops_({.loops = options.loops, .threads_max = options.threads_max}) {}

  Status Listen();
  void Serve(Handler& handler);
  void Stop();
  bson::Document Figures();
  void SetConnectionsMax(uint32_t count);
  const asio::ip::tcp::endpoint& endpoint() const { return endpoint_; }

  Handler& handler() override { return *handler_; }
  Loops& loops() override { return loops_; }
  Turns& unpacking() override { return unpacking_; }
  bool stopping() const override { return stopping_.load(std::memory_order_relaxed); }
  void Ended(Session& session) override;

 private:
  Task Accept(Acceptor& acceptor);
  void Admit(Loop& loop, Socket socket, std::string remote);
  void ShutDownSockets(int how);
  void WatchForClosed();
  bool WaitUntilIdle(std::chrono::milliseconds limit);

  const ServerOptions options_;
  std::atomic<uint32_t> connections_max_;
  Handler* handler_ = nullptr;  // set by Serve()
  Loops loops_;
  Turns unpacking_{std::max(1u, std::thread::hardware_concurrency() / 2)};
  asio::ip::tcp::endpoint endpoint_;
  std::vector<Acceptor> acceptors_;
  std::atomic<bool> stopping_{false};
  Seldom refused_seldom_;
  Seldom failed_seldom_;

  Mutex mutex_;
  CondVar changed_;
  std::unordered_set<Session*> sessions_ BRAID_GUARDED_BY(mutex_);
  size_t accept_loops_ BRAID_GUARDED_BY(mutex_) = 0;
  size_t refused_now_ BRAID_GUARDED_BY(mutex_) = 0;
  uint64_t created_ BRAID_GUARDED_BY(mutex_) = 0;
  uint64_t rejected_ BRAID_GUARDED_BY(mutex_) = 0;
  bool stopped_ BRAID_GUARDED_BY(mutex_) = false;
  std::thread watcher_;  // finds clients that have gone while their requests run; from Serve() on
};

Status Server::Impl::Listen() {
  BRAID_TRY(acceptors_, wire::Listen(options_.addresses, options_.port, loops_[0].context()));
  endpoint_ = acceptors_.front().local_endpoint();
  return {};
}

void Server::Impl::Serve(Handler& handler) {
  BRAID_ASSERT(handler_ == nullptr);
  handler_ = &handler;
  {
    const MutexLock lock(mutex_);
    accept_loops_ = acceptors_.size();
  }
  watcher_ = std::thread([this] { WatchForClosed(); });
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
      if (const uint64_t times = failed_seldom_.Count(); times > 0) {
        log::warn("cannot accept a connection: {} ({} times since this was last said)", error.message(), times);
      }
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kAwait);
    }
  }
  const MutexLock lock(mutex_);
  BRAID_ASSERT(accept_loops_ > 0);
  --accept_loops_;
  changed_.NotifyAll();
}

void Server::Impl::Admit(Loop& loop, Socket socket, std::string remote) {
  Status refusal;
  {
    const uint32_t allowed = connections_max_.load(std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    if (sessions_.size() >= refused_now_ + allowed) {  // a refusal is counted before its session exists
      ++rejected_;
      if (const uint64_t times = refused_seldom_.Count(); times > 0) {
        log::warn("{} connections refused since this was last said: there are {} already, see --max-connections", times,
                  allowed);
      }
      if (refused_now_ >= options_.refusals_max) return;
      ++refused_now_;
      refusal = Status(Code::kHostUnreachable, StrCat("too many connections: the server allows ", allowed,
                                                      "; close some, or start it with a larger --max-connections"));
    }
  }
  auto session = std::make_unique<Session>(*this, loop, std::move(socket), std::move(remote), std::move(refusal));
  {
    const MutexLock lock(mutex_);
    ++created_;
    sessions_.insert(session.get());
    // Stop() may have gone through the sessions just before this one was there.
    if (stopping()) ::shutdown(session->socket_fd(), SHUT_RD);
  }
  Session::Spawn(std::move(session));
}

void Server::Impl::Ended(Session& session) {
  const MutexLock lock(mutex_);
  const size_t ended = sessions_.erase(&session);
  BRAID_ASSERT(ended == 1);
  if (session.refused()) {
    BRAID_ASSERT(refused_now_ > 0);
    --refused_now_;
  }
  if (sessions_.empty()) changed_.NotifyAll();
}

// By descriptor, not through Asio's objects: those belong to the loops' threads.
void Server::Impl::ShutDownSockets(int how) {
  const MutexLock lock(mutex_);
  for (const Session* session : sessions_) ::shutdown(session->socket_fd(), how);
}

void Server::Impl::WatchForClosed() {
  MutexLock lock(mutex_);
  const MemoryBudget* const memory = handler_->memory();
  int watches = 0;
  while (!changed_.WaitFor(lock, kClosedWatchedEvery,
                           [this]() BRAID_REQUIRES(mutex_) { return stopped_ && sessions_.empty(); })) {
    for (Session* session : sessions_) session->InterruptIfClosed();
    if (memory == nullptr || ++watches % kStalledAfterWatches != 0 || !memory->short_for_clients()) continue;
    for (Session* session : sessions_) session->CloseIfStalled();
  }
}

bool Server::Impl::WaitUntilIdle(std::chrono::milliseconds limit) {
  MutexLock lock(mutex_);
  return changed_.WaitFor(lock, limit,
                          [this]() BRAID_REQUIRES(mutex_) { return sessions_.empty() && accept_loops_ == 0; });
}

void Server::Impl::Stop() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  {
    // Afterwards it cannot be told which connections their clients have closed.
    const MutexLock lock(mutex_);
    for (Session* session : sessions_) session->InterruptIfClosed();
  }
  stopping_ = true;
  unpacking_.Close();
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
  if (watcher_.joinable()) watcher_.join();
  loops_.Stop();
}

void Server::Impl::SetConnectionsMax(uint32_t count) { connections_max_.store(count, std::memory_order_relaxed); }

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
  const Turns::Figures unpacking = unpacking_.figures();
  const MutexLock lock(mutex_);
  const auto current = static_cast<int64_t>(sessions_.size() - std::min(sessions_.size(), refused_now_));
  bson::Builder builder;
  builder.OpenObject("connections")
      .Append("current", static_cast<int32_t>(current))
      .Append("available", static_cast<int32_t>(std::max<int64_t>(0, connections_max_.load() - current)))
      .Append("totalCreated", created_)
      .Append("rejected", rejected_)
      .Append("active", static_cast<int32_t>(active))
      .Close();
  builder.OpenObject("network")
      .Append("bytesIn", bytes_in)
      .Append("bytesOut", bytes_out)
      .Append("numRequests", requests);
  builder.OpenObject("decompression")
      .Append("begun", unpacking.begun)
      .Append("abandoned", unpacking.abandoned)
      .Append("running", static_cast<int32_t>(unpacking.running))
      .Append("waiting", static_cast<int32_t>(unpacking.waiting))
      .Close();
  builder.Close();
  const LaneFigures& lane = loops_.lane().figures();
  builder.OpenObject("requestQueue")
      .Append("waiting", lane.waiting.load(std::memory_order_relaxed))
      .Append("waits", lane.waits.load(std::memory_order_relaxed))
      .Append("waitedMicros", lane.waited_nanos.load(std::memory_order_relaxed) / 1000)
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
void Server::SetConnectionsMax(uint32_t count) { impl_->SetConnectionsMax(count); }
uint16_t Server::port() const { return impl_->endpoint().port(); }
std::string Server::address() const { return ToText(impl_->endpoint()); }
bson::Document Server::Figures() const { return impl_->Figures(); }
size_t Server::threads() const { return impl_->loops().threads(); }

}  // namespace braid::wire
