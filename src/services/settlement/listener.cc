#include "services/settlement/listener.h"

#include <sys/socket.h>

#include <boost/asio.hpp>
#include <list>
#include <thread>

#include "base/log.h"
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

class Listener::Parts {
 public:
  Parts(Settlement& settlement, const ListenerOptions& options)
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
      const std::lock_guard lock(mu_);
      stopping_ = true;
      changed_.notify_all();
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RD);  // wakes accept(), which close() would not
    accepting_.join();
    stop_.Raise();
    if (!AwaitEnd()) AbortAll();
    if (!AwaitEnd()) {
      // No client is waited for any more, so it is the store that does not answer.
      log::warn("connections have outputs that could not be committed; they are given up");
      settlement_.writers().Stop(options_.patience).Ignore("each output is told its own outcome");
    }
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return active_ == 0; });
    Reap();
  }

  uint16_t port() const { return port_; }
  uint32_t connections() const {
    const std::lock_guard lock(mu_);
    return active_;
  }
  Totals totals() const {
    const std::lock_guard lock(mu_);
    Totals sum = ended_;
    for (const Running& running : running_) Add(running.connection.totals(), sum);
    return sum;
  }

 private:
  struct Running {
    Running(Settlement& settlement, tcp::socket socket, uint32_t due_max, const StopSignal& stop)
        : connection(settlement, std::move(socket), due_max, stop) {}
    Connection connection;
    bool finished = false;  // guarded by mu_
    std::thread thread;
  };

  // False: some connections have not ended within the time there is.
  bool AwaitEnd() {
    std::unique_lock lock(mu_);
    return changed_.wait_for(lock, options_.patience, [&] { return active_ == 0; });
  }

  void AbortAll() {
    const std::lock_guard lock(mu_);
    for (Running& running : running_) {
      if (!running.finished) running.connection.Abort();
    }
  }

  void Accept() {
    for (;;) {
      error_code error;
      tcp::socket socket(context_);
      acceptor_.accept(socket, error);
      std::unique_lock lock(mu_);
      if (stopping_) return;
      Reap();
      if (error) {
        log::warn("a connection could not be accepted: {}", error.message());
        changed_.wait_for(lock, std::chrono::milliseconds(100));  // files run out, for example: others must end first
      } else if (active_ >= options_.connections_max) {
        log::warn("a connection was closed: {} are open, the most", active_);
      } else {
        Begin(std::move(socket));
      }
    }
  }

  // Under mu_, as is Reap.
  void Begin(tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    Running& running = running_.emplace_back(settlement_, std::move(socket), options_.due_max, stop_);
    ++active_;
    running.thread = std::thread([this, &running] {
      running.connection.Run();
      const std::lock_guard lock(mu_);
      running.connection.Close();  // now: the next Reap() may be long after
      running.finished = true;
      --active_;
      changed_.notify_all();
    });
  }

  void Reap() {
    std::erase_if(running_, [&](Running& running) {
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
  mutable std::mutex mu_;
  std::condition_variable changed_;
  std::list<Running> running_;  // guarded by mu_, as are the next
  uint32_t active_ = 0;
  Totals ended_;
  bool stopping_ = false;
};

Listener::Listener(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Listener::~Listener() { Stop(); }
void Listener::Stop() { parts_->Stop(); }

Result<std::unique_ptr<Listener>> Listener::Open(Settlement& settlement, const ListenerOptions& options) {
  auto parts = std::make_unique<Parts>(settlement, options);
  BRAID_CHECK_OK(parts->Start());
  return std::unique_ptr<Listener>(new Listener(std::move(parts)));
}

uint16_t Listener::port() const { return parts_->port(); }
uint32_t Listener::connections() const { return parts_->connections(); }
Totals Listener::totals() const { return parts_->totals(); }

}  // namespace braid::settlement
