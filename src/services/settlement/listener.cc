#include "services/settlement/listener.h"

#include <sys/socket.h>

#include <boost/asio.hpp>
#include <list>
#include <thread>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "services/settlement/connection.h"

namespace braid::settlement {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

void Add(const Totals& totals, Totals& sum) {
  for (size_t i = 0; i < kOutcomes; ++i) sum.counts[i] += totals.counts[i];
}

}  // namespace

class Listener::Impl {
 public:
  Impl(Settlement& settlement, const ListenerOptions& options)
      : settlement_(settlement), options_(options), acceptor_(context_) {}

  Status Start() {
    error_code error;
    const asio::ip::address address = asio::ip::make_address(options_.address, error);
    if (error) return Status(Code::kBadValue, StrCat("'", options_.address, "' is not an IP address"));
    if (!address.is_loopback()) {
      return Status(
          Code::kBadValue,
          StrCat("refusing to listen on ", options_.address,
                 ": there is no authentication yet, so anybody who can reach the port could write to the log; "
                 "listen on 127.0.0.1 and use a tunnel (ssh -L) to reach it from elsewhere"));
    }
    const tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) {
      return Status(Code::kSocketException,
                    StrCat("cannot listen on ", options_.address, " port ", options_.port, ": ", error.message()));
    }
    BRAID_CHECK_OK(stop_.Open());
    accepting_ = std::thread([this] { Accept(); });
    return {};
  }

  void Stop() {
    if (!accepting_.joinable()) return;
    {
      const MutexLock lock(mu_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RD);  // wakes accept(), which close() would not
    accepting_.join();
    stop_.Raise();
    if (!AwaitEnd()) AbortAll();
    if (!AwaitEnd()) {
      // No client is waited for any more, so the store is what does not answer.
      log::warn("connections have outputs that could not be committed; they are given up");
      settlement_.writers().Stop(options_.patience).Ignore("each output is told its own outcome");
    }
    MutexLock lock(mu_);
    changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return active_ == 0; });
    Reap();
    BRAID_ASSERT(running_.empty());
  }

  uint16_t port() const { return port_; }
  uint32_t connections() const {
    const MutexLock lock(mu_);
    return active_;
  }
  Totals totals() const {
    const MutexLock lock(mu_);
    Totals sum = ended_;
    for (const Running& running : running_) Add(running.connection.totals(), sum);
    return sum;
  }

 private:
  struct Running {
    Running(Settlement& settlement, tcp::socket socket, const ListenerOptions& options, const StopSignal& stop)
        : connection(settlement, std::move(socket), options, stop) {}
    Connection connection;
    bool finished = false;  // under the listener's lock
    std::thread thread;
  };

  // False if some connections have not ended in time.
  bool AwaitEnd() {
    MutexLock lock(mu_);
    return changed_.WaitFor(lock, options_.patience, [&]() BRAID_REQUIRES(mu_) { return active_ == 0; });
  }

  void AbortAll() {
    const MutexLock lock(mu_);
    for (Running& running : running_) {
      if (!running.finished) running.connection.Abort();
    }
  }

  void Accept() {
    for (;;) {
      error_code error;
      tcp::socket socket(context_);
      acceptor_.accept(socket, error);
      MutexLock lock(mu_);
      if (stopping_) return;
      Reap();
      if (error) {
        log::warn("a connection could not be accepted: {}", error.message());
        changed_.WaitFor(lock,
                         std::chrono::milliseconds(100));  // for example no free file descriptor: others must end first
      } else if (active_ >= options_.connections_max) {
        log::warn("a connection was closed: {} are open, the most", active_);
      } else {
        Begin(std::move(socket));
      }
    }
  }

  void Begin(tcp::socket socket) BRAID_REQUIRES(mu_) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    Running& running = running_.emplace_back(settlement_, std::move(socket), options_, stop_);
    BRAID_ASSERT(!stopping_ && active_ < options_.connections_max);
    ++active_;
    running.thread = std::thread([this, &running] {
      running.connection.Run();
      const MutexLock lock(mu_);
      running.connection.Close();  // now, because the next Reap() may be much later
      running.finished = true;
      BRAID_ASSERT(active_ > 0);
      --active_;
      changed_.NotifyAll();
    });
  }

  void Reap() BRAID_REQUIRES(mu_) {
    std::erase_if(running_, [&](Running& running) BRAID_REQUIRES(mu_) {
      if (!running.finished) return false;
      running.thread.join();
      Add(running.connection.totals(), ended_);
      return true;
    });
  }

  Settlement& settlement_;
  const ListenerOptions options_;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  uint16_t port_ = 0;
  StopSignal stop_;
  std::thread accepting_;
  mutable Mutex mu_;
  CondVar changed_;
  std::list<Running> running_ BRAID_GUARDED_BY(mu_);
  uint32_t active_ BRAID_GUARDED_BY(mu_) = 0;
  Totals ended_ BRAID_GUARDED_BY(mu_);
  bool stopping_ BRAID_GUARDED_BY(mu_) = false;
};

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::~Listener() { Stop(); }
void Listener::Stop() { impl_->Stop(); }

Result<std::unique_ptr<Listener>> Listener::Open(Settlement& settlement, const ListenerOptions& options) {
  auto impl = std::make_unique<Impl>(settlement, options);
  BRAID_CHECK_OK(impl->Start());
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

uint16_t Listener::port() const { return impl_->port(); }
uint32_t Listener::connections() const { return impl_->connections(); }
Totals Listener::totals() const { return impl_->totals(); }

}  // namespace braid::settlement
