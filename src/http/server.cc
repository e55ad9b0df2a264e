#include "http/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_set>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "http/connection.h"

namespace braid::http {
namespace {

using boost::asio::ip::tcp;

// "localhost" is both loopbacks.
Result<std::vector<boost::asio::ip::address>> LoopbacksOf(const std::string& text) {
  if (text == "localhost") {
    return std::vector<boost::asio::ip::address>{boost::asio::ip::address_v4::loopback(),
                                                 boost::asio::ip::address_v6::loopback()};
  }
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(text, error);
  if (error) {
    return Status(Code::kBadValue,
                  StrCat("--http-bind: '", text, "' is not an address: give 127.0.0.1, ::1 or localhost"));
  }
  if (!address.is_loopback()) {
    return Status(Code::kBadValue,
                  StrCat("--http-bind: refusing to listen on ", text,
                         ": there is no authentication yet, so anybody who can reach the port could read and change "
                         "everything; listen on 127.0.0.1 and use a tunnel (ssh -L) to reach it from elsewhere"));
  }
  return std::vector<boost::asio::ip::address>{address};
}

Status Open(const tcp::endpoint& endpoint, tcp::acceptor& acceptor) {
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(boost::asio::socket_base::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(boost::asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  std::string advice;
  if (error == boost::asio::error::address_in_use) {
    advice =
        "; stop the program that uses it, choose another port with --http-port (0 takes a free one), or leave HTTP "
        "out with --no-http";
  } else if (error == boost::asio::error::access_denied) {
    advice = "; choose a port above 1023 with --http-port";
  }
  return Status(Code::kHostUnreachable, StrCat("cannot listen for HTTP on ", endpoint.address().to_string(), " port ",
                                               endpoint.port(), ": ", error.message(), advice));
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(const ServerOptions& options) : workers_(options) { shared_.options = options; }
  ~Impl() { Stop(); }

  Status Listen() {
    uint16_t port = shared_.options.port;
    for (const std::string& text : shared_.options.addresses) {
      BRAID_TRY(const auto addresses, LoopbacksOf(text));
      for (const auto& address : addresses) {
        tcp::acceptor acceptor(accepting_);
        const Status status = Open({address, port}, acceptor);
        // A machine without IPv6 has no second loopback; "localhost" is then the first alone.
        if (!status.ok() && address != addresses.front()) continue;
        BRAID_CHECK_OK(status);
        port = acceptor.local_endpoint().port();
        acceptors_.push_back(std::move(acceptor));
      }
    }
    return {};
  }

  void Serve(Handler& handler) {
    shared_.handler = &handler;
    for (tcp::acceptor& acceptor : acceptors_) {
      boost::asio::co_spawn(accepting_, Accept(acceptor), [](const std::exception_ptr&) {});
    }
    threads_.reserve(shared_.options.io_threads);
    for (size_t i = 0; i < shared_.options.io_threads; ++i) threads_.emplace_back([this] { context_.run(); });
  }

  void BeginStop() {
    if (shared_.stopping.exchange(true)) return;
    boost::asio::post(accepting_, [this] {
      for (tcp::acceptor& acceptor : acceptors_) {
        boost::system::error_code ignored;
        acceptor.close(ignored);
      }
    });
    CloseAll(false);
  }

  bool Drain(std::chrono::milliseconds grace) {
    BeginStop();
    MutexLock lock(mu_);
    return none_.WaitFor(lock, grace, [this]() BRAID_REQUIRES(mu_) { return connections_.empty(); });
  }

  void Stop() {
    BeginStop();
    CloseAll(true);
    {
      MutexLock lock(mu_);
      if (!threads_.empty()) none_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return connections_.empty(); });
    }
    workers_.Join();
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::string address() const {
    const tcp::endpoint endpoint = first_endpoint_;
    const std::string host = endpoint.address().to_string();
    return StrCat(endpoint.address().is_v6() ? StrCat("[", host, "]") : host, ":", endpoint.port());
  }
  void NoteAddress() { first_endpoint_ = acceptors_.front().local_endpoint(); }

  Figures figures() const {
    const MutexLock lock(mu_);
    return {.connections = connections_.size(),
            .accepted = accepted_,
            .rejected = rejected_,
            .waiting = workers_.waiting,
            .waited = std::chrono::nanoseconds(workers_.waited_nanos)};
  }

 private:
  boost::asio::awaitable<void> Accept(tcp::acceptor& acceptor) {
    constexpr auto kAccepted = boost::asio::as_tuple(boost::asio::use_awaitable);
    while (!shared_.stopping) {
      auto [error, socket] = co_await acceptor.async_accept(boost::asio::make_strand(context_), kAccepted);
      if (shared_.stopping) co_return;
      if (error) {  // for example no free file descriptor: others must end first
        boost::asio::steady_timer pause(accepting_, std::chrono::milliseconds(100));
        co_await pause.async_wait(kAccepted);
        continue;
      }
      Start(std::move(socket));
    }
  }

  void Start(tcp::socket socket) {
    const auto executor = socket.get_executor();
    const auto connection = std::make_shared<Connection>(std::move(socket), shared_, workers_);
    bool refused = false;
    {
      const MutexLock lock(mu_);
      ++accepted_;
      refused = connections_.size() >= shared_.options.connections_max;
      if (refused) ++rejected_;
      connections_.insert(connection);
    }
    boost::asio::awaitable<void> conversation = refused ? connection->Refuse() : connection->Run();
    boost::asio::co_spawn(executor, std::move(conversation), [this, connection](const std::exception_ptr&) {
      const MutexLock lock(mu_);
      connections_.erase(connection);
      if (connections_.empty()) none_.NotifyAll();
    });
    if (shared_.stopping) connection->Close(false);
  }

  void CloseAll(bool even_if_busy) {
    const MutexLock lock(mu_);
    for (const auto& connection : connections_) connection->Close(even_if_busy);
  }

  Shared shared_;
  boost::asio::io_context context_;
  boost::asio::strand<boost::asio::io_context::executor_type> accepting_{context_.get_executor()};
  Workers workers_;
  std::vector<tcp::acceptor> acceptors_;
  tcp::endpoint first_endpoint_;
  std::vector<std::thread> threads_;
  mutable Mutex mu_;
  CondVar none_;
  std::unordered_set<std::shared_ptr<Connection>> connections_ BRAID_GUARDED_BY(mu_);
  uint64_t accepted_ BRAID_GUARDED_BY(mu_) = 0;
  uint64_t rejected_ BRAID_GUARDED_BY(mu_) = 0;
};

Status ServerOptions::Validate() const {
  if (addresses.empty()) return Status(Code::kBadValue, "--http-bind needs an address: 127.0.0.1, ::1 or localhost");
  for (const std::string& text : addresses) BRAID_CHECK_OK(LoopbacksOf(text));
  return {};
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::Listen(const ServerOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  auto impl = std::make_unique<Impl>(options);
  BRAID_CHECK_OK(impl->Listen());
  impl->NoteAddress();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::Serve(Handler& handler) { impl_->Serve(handler); }
void Server::BeginStop() { impl_->BeginStop(); }
bool Server::Drain(std::chrono::milliseconds grace) { return impl_->Drain(grace); }
void Server::Stop() { impl_->Stop(); }
std::string Server::address() const { return impl_->address(); }
Server::Figures Server::figures() const { return impl_->figures(); }

}  // namespace braid::http
