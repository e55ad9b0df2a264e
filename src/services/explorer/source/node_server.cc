// NodeServer: a ChainNode behind HTTP.
#include "services/explorer/source/chain_node.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "services/explorer/source/http.h"

namespace braid::explorer::source {
namespace {

constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

class NodeServer::Parts {
 public:
  Parts(ChainNode& node, const NodeServerOptions& options) : node_(node), options_(options) {}
  ~Parts() { Stop(); }

  Status Start() {
    BRAID_CHECK_OK(Listen());
    accepting_ = std::thread([this] { Accept(); });
    if (options_.interval_ms > 0) stepping_ = std::thread([this] { StepNowAndThen(); });
    return {};
  }
  const std::string& url() const { return url_; }

 private:
  struct Connection {
    std::unique_ptr<Stream> stream;
    bool finished = false;  // guarded by the mutex of the server
    std::thread thread;
  };

  Status Listen() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    if (inet_pton(AF_INET, options_.address.c_str(), &address.sin_addr) != 1 ||
        (ntohl(address.sin_addr.s_addr) >> 24) != 127) {
      return Status(Code::kBadValue, StrCat("'", options_.address, "' is not a loopback address such as 127.0.0.1"));
    }
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    socklen_t size = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, raw, size) != 0 || listen(listener_, 128) != 0 || getsockname(listener_, raw, &size) != 0) {
      return Status(Code::kSocketException,
                    StrCat("cannot listen on ", options_.address, " port ", options_.port, ": ", strerror(errno)));
    }
    url_ = StrCat("http://", options_.address, ":", ntohs(address.sin_port));
    return {};
  }

  void Accept() {
    for (;;) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      MutexLock lock(mu_);
      if (stopping_) {
        if (descriptor >= 0) close(descriptor);
        return;
      }
      Reap();
      if (descriptor < 0) {
        stop_.WaitFor(lock, kAcceptPause);  // for example no free file descriptor: others must end first
        continue;
      }
      Connection& connection = connections_.emplace_back();
      connection.stream = Stream::Accepted(descriptor);
      connection.thread = std::thread([this, &connection] {
        Serve(*connection.stream);
        const MutexLock at_end(mu_);
        connection.stream->ShutDown();  // now, because the next Reap() may be much later
        connection.finished = true;
      });
    }
  }

  void Serve(Stream& stream) {
    HttpSession session(stream);
    for (;;) {
      const auto request = session.Next();
      if (!request.ok() || !request->has_value()) return;
      if (!(*request)->is_post) {
        session.Reply({.status = 405, .body = "POST a JSON-RPC request"}).Ignore("the client will see");
        continue;
      }
      const ChainNode::Answer answer = node_.Handle((*request)->body);
      if (!Wait(answer.delay_ms) || answer.dropped) return;
      const HttpReply reply{.status = answer.status, .body = answer.body, .keep_alive = (*request)->keep_alive};
      const Status sent = session.Reply(reply, answer.cut ? 40 + answer.body.size() / 2 : SIZE_MAX);
      if (!sent.ok() || answer.cut || !reply.keep_alive) return;
    }
  }

  // False: the server ends.
  bool Wait(int64_t milliseconds) {
    MutexLock lock(mu_);
    return !stop_.WaitFor(lock, std::chrono::milliseconds(milliseconds),
                          [this]() BRAID_REQUIRES(mu_) { return stopping_; });
  }

  void StepNowAndThen() {
    while (Wait(options_.interval_ms)) node_.Advance(1);
  }

  void Reap() BRAID_REQUIRES(mu_) {
    std::erase_if(connections_, [](Connection& connection) {
      if (connection.finished) connection.thread.join();
      return connection.finished;
    });
  }

  void Stop() {
    {
      const MutexLock lock(mu_);
      stopping_ = true;
      stop_.NotifyAll();
      for (const Connection& connection : connections_) connection.stream->ShutDown();
    }
    if (listener_ >= 0) ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
    if (accepting_.joinable()) accepting_.join();
    if (stepping_.joinable()) stepping_.join();
    std::list<Connection> left;
    {
      const MutexLock lock(mu_);
      left.swap(connections_);
    }
    for (Connection& connection : left) connection.thread.join();
    if (listener_ >= 0) close(listener_);
  }

  ChainNode& node_;
  const NodeServerOptions options_;
  int listener_ = -1;
  std::string url_;
  std::thread accepting_;
  std::thread stepping_;
  Mutex mu_;
  CondVar stop_;
  std::list<Connection> connections_ BRAID_GUARDED_BY(mu_);
  bool stopping_ BRAID_GUARDED_BY(mu_) = false;
};

NodeServer::NodeServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
NodeServer::~NodeServer() = default;
const std::string& NodeServer::url() const { return parts_->url(); }

Result<std::unique_ptr<NodeServer>> NodeServer::Open(ChainNode& node, const NodeServerOptions& options) {
  auto parts = std::make_unique<Parts>(node, options);
  BRAID_CHECK_OK(parts->Start());
  return std::unique_ptr<NodeServer>(new NodeServer(std::move(parts)));
}

}  // namespace braid::explorer::source
