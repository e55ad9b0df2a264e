#include "http/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "http/live.h"

namespace braid::http {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

// Counts up to `parts` numbers, each a part of its own.
class CountingProducer final : public Producer {
 public:
  explicit CountingProducer(int parts) : parts_(parts) {}
  Result<bool> Next(std::string& out) override {
    if (next_ == 13) return Status(Code::kInternalError, "unlucky");
    out += StrCat(next_++, "\n");
    return next_ <= parts_;
  }

 private:
  const int parts_;
  int next_ = 1;
};

// Holds up what takes long.
class Gate {
 public:
  void Pass() {
    MutexLock lock(mu_);
    ++waiting_;
    opened_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return open_; });
  }
  void Open() {
    const MutexLock lock(mu_);
    open_ = true;
    opened_.NotifyAll();
  }
  int waiting() {
    const MutexLock lock(mu_);
    return waiting_;
  }

 private:
  Mutex mu_;
  CondVar opened_;
  int waiting_ BRAID_GUARDED_BY(mu_) = 0;
  bool open_ BRAID_GUARDED_BY(mu_) = false;
};

// Says what it was sent. A path with /stream takes the body in parts, /count/N produces, /feed goes on and on, /long
// and /wait wait for the gate.
class EchoExchange final : public Exchange {
 public:
  EchoExchange(Request request, std::atomic<int>& sent, Gate& gate, Live& live)
      : request_(std::move(request)), sent_(sent), gate_(gate), live_(live) {}
  bool takes_long() const override { return request_.path == "/long"; }
  bool streamed() const override { return request_.path == "/stream"; }
  std::optional<Response> Take(std::string_view part) override {
    taken_ += part.size();
    return std::nullopt;
  }
  Response Finish(std::string body) override {
    if (takes_long() || request_.path == "/wait") gate_.Pass();
    if (request_.path == "/feed") {
      Response response{.content_type = std::string(kEvents)};
      response.feed = live_.Listen(0, 0);
      return response;
    }
    if (request_.path.starts_with("/count/")) {
      Response response{.content_type = "text/plain"};
      response.producer = std::make_unique<CountingProducer>(std::stoi(request_.path.substr(7)));
      return response;
    }
    return {.body = StrCat(request_.method, " ", request_.path, " ", streamed() ? StrCat(taken_) : body)};
  }
  void Seal(Response&) override {}
  void Sent(unsigned, uint64_t, uint64_t) override { ++sent_; }

 private:
  const Request request_;
  std::atomic<int>& sent_;
  Gate& gate_;
  Live& live_;
  size_t taken_ = 0;
};

class EchoHandler final : public Handler {
 public:
  std::unique_ptr<Exchange> Begin(Request request) override {
    return std::make_unique<EchoExchange>(std::move(request), sent, gate, live);
  }
  Response Malformed(unsigned status, std::string_view code, std::string_view message) override {
    return ErrorResponse(status, code, message);
  }
  std::atomic<int> sent = 0;
  Gate gate;
  Live live{{.period = milliseconds(1)}, [] { return std::string(100'000, 'x'); }};
};

class HttpServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.port = 0;
    auto listening = Server::Listen(options);
    ASSERT_TRUE(listening.ok()) << listening.error().message();
    server_ = *std::move(listening);
    server_->Serve(handler_);
    port_ = static_cast<uint16_t>(std::stoi(server_->address().substr(server_->address().find(':') + 1)));
  }

  int Connect() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }
  static void SendAll(int socket, std::string_view bytes) {
    EXPECT_EQ(send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // Everything until the server closes.
  static std::string ReadAll(int socket) {
    std::string answer;
    char part[4096];
    for (ssize_t size = 0; (size = recv(socket, part, sizeof(part), 0)) > 0;) {
      answer.append(part, static_cast<size_t>(size));
    }
    close(socket);
    return answer;
  }
  std::string Ask(std::string_view bytes) const {
    const int socket = Connect();
    SendAll(socket, bytes);
    return ReadAll(socket);
  }

  EchoHandler handler_;
  std::unique_ptr<Server> server_;
  uint16_t port_ = 0;
};

constexpr std::string_view kClose = "Connection: close\r\n\r\n";

TEST_F(HttpServerTest, AnswersOneAfterAnother) {
  Start();
  const std::string answers = Ask(StrCat("GET /a?x=1 HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
                                         "GET /c HTTP/1.1\r\n", kClose));
  EXPECT_THAT(answers, HasSubstr("GET /a "));
  EXPECT_THAT(answers, HasSubstr("POST /b abc"));
  EXPECT_THAT(answers, HasSubstr("GET /c "));
  EXPECT_THAT(answers, HasSubstr("Connection: close"));
}

TEST_F(HttpServerTest, StreamsBodiesOfAnyLength) {
  Start({.body_bytes_max = 1000});
  const std::string body(3'000'000, 'x');
  const std::string head = StrCat(" HTTP/1.1\r\nContent-Length: ", body.size(), "\r\n", kClose);
  EXPECT_THAT(Ask(StrCat("POST /stream", head, body)), HasSubstr("POST /stream 3000000"));
  EXPECT_THAT(Ask(StrCat("POST /whole", head)), StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpServerTest, ProducedBodiesComeInChunks) {
  Start();
  const std::string whole = Ask(StrCat("GET /count/3 HTTP/1.1\r\n", kClose));
  EXPECT_THAT(whole, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(whole, HasSubstr("2\r\n1\n\r\n2\r\n2\n\r\n2\r\n3\n\r\n0\r\n\r\n"));
  EXPECT_THAT(Ask("GET /count/2 HTTP/1.0\r\n\r\n"), testing::EndsWith("\r\n\r\n1\n2\n"));
  EXPECT_THAT(Ask(StrCat("HEAD /count/3 HTTP/1.1\r\n", kClose)), testing::EndsWith("\r\n\r\n"));
  // One that fails on the way has no end.
  EXPECT_THAT(Ask("GET /count/20 HTTP/1.1\r\n\r\n"), testing::Not(HasSubstr("\r\n0\r\n\r\n")));
}

TEST_F(HttpServerTest, FeedsEndWithTheirClientOrWithTheServer) {
  Start({.write_timeout = milliseconds(50)});
  // One that goes, one that does not read, and one that listens until the server stops.
  const int gone = Connect();
  SendAll(gone, "GET /feed HTTP/1.1\r\n\r\n");
  close(gone);
  const int deaf = Connect();
  SendAll(deaf, "GET /feed HTTP/1.1\r\n\r\n");
  while (handler_.sent < 2) std::this_thread::yield();
  close(deaf);
  const int listening = Connect();
  SendAll(listening, "GET /feed HTTP/1.1\r\n\r\n");
  char first = 0;
  EXPECT_EQ(recv(listening, &first, 1, 0), 1);
  std::string heard;
  std::thread reader([&] { heard = ReadAll(listening); });
  EXPECT_TRUE(server_->Drain(std::chrono::seconds(30)));
  reader.join();
  EXPECT_EQ(handler_.sent, 3);
  EXPECT_THAT(heard, HasSubstr("Content-Type: text/event-stream\r\n"));
}

TEST_F(HttpServerTest, SlowClientsAreCutOff) {
  Start({.idle_timeout = milliseconds(50), .header_timeout = milliseconds(50), .body_timeout = milliseconds(50)});
  EXPECT_EQ(ReadAll(Connect()), "");
  EXPECT_EQ(Ask("GET /a HT"), "");
  EXPECT_EQ(Ask("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\na"), "");
  EXPECT_EQ(Ask("POST /stream HTTP/1.1\r\nContent-Length: 3\r\n\r\na"), "");
}

TEST_F(HttpServerTest, OneConnectionTooManyIsRefused) {
  Start({.connections_max = 2});
  const int first = Connect();
  const int second = Connect();
  while (server_->figures().connections < 2) std::this_thread::yield();
  EXPECT_THAT(ReadAll(Connect()), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(server_->figures().rejected, 1u);
  close(first);
  close(second);
}

TEST_F(HttpServerTest, ManyClientsSideBySide) {
  Start();
  constexpr int kThreads = 8;
  constexpr int kRequests = 50;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kRequests; ++n) {
        const std::string answer = Ask(StrCat("POST /p", n, " HTTP/1.1\r\nContent-Length: 2\r\n", kClose, "ok"));
        if (answer.ends_with(StrCat("POST /p", n, " ok"))) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kThreads * kRequests);
  server_->Stop();
  EXPECT_EQ(handler_.sent, kThreads * kRequests);
}

TEST_F(HttpServerTest, RequestsThatTakeLongHoldUpOnlyEachOther) {
  Start({.workers = 1, .long_workers = 2});
  std::vector<int> sockets;
  for (int i = 0; i < 5; ++i) {
    sockets.push_back(Connect());
    SendAll(sockets.back(), StrCat("GET /long HTTP/1.1\r\n", kClose));
  }
  while (handler_.gate.waiting() < 2) std::this_thread::yield();
  EXPECT_THAT(Ask(StrCat("GET /quick HTTP/1.1\r\n", kClose)), HasSubstr("GET /quick"));
  EXPECT_EQ(handler_.gate.waiting(), 2);
  handler_.gate.Open();
  for (const int socket : sockets) EXPECT_THAT(ReadAll(socket), HasSubstr("GET /long"));
}

TEST_F(HttpServerTest, ChangesThatWaitDoNotHoldUpReads) {
  Start({.workers = 1, .change_workers = 2});
  std::vector<int> sockets;
  for (int i = 0; i < 5; ++i) {
    sockets.push_back(Connect());
    SendAll(sockets.back(), StrCat("POST /wait HTTP/1.1\r\nContent-Length: 2\r\n", kClose, "ok"));
  }
  while (handler_.gate.waiting() < 2) std::this_thread::yield();
  EXPECT_THAT(Ask(StrCat("GET /quick HTTP/1.1\r\n", kClose)), HasSubstr("GET /quick"));
  EXPECT_THAT(Ask(StrCat("GET /count/3 HTTP/1.1\r\n", kClose)), HasSubstr("3\n"));
  EXPECT_EQ(handler_.gate.waiting(), 2);
  handler_.gate.Open();
  for (const int socket : sockets) EXPECT_THAT(ReadAll(socket), HasSubstr("POST /wait ok"));
}

TEST_F(HttpServerTest, DrainsClosesIdleConnectionsAndStops) {
  Start();
  const int idle = Connect();
  while (server_->figures().connections < 1) std::this_thread::yield();
  EXPECT_TRUE(server_->Drain(std::chrono::seconds(30)));
  EXPECT_EQ(ReadAll(idle), "");
  server_->Stop();
  server_->Stop();
}

TEST(HttpListenTest, OnlyLoopbackAndOnlyAFreePort) {
  EXPECT_EQ(Server::Listen({.addresses = {"0.0.0.0"}, .port = 0}).error().code(), Code::kBadValue);
  EXPECT_EQ(Server::Listen({.addresses = {"bogus"}, .port = 0}).error().code(), Code::kBadValue);
  EXPECT_EQ(Server::Listen({.addresses = {}, .port = 0}).error().code(), Code::kBadValue);
  const auto first = Server::Listen({.port = 0});
  ASSERT_TRUE(first.ok());
  const std::string address = (*first)->address();
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(address.find(':') + 1)));
  const auto second = Server::Listen({.port = port});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.error().message()), HasSubstr("--http-port"));
}

}  // namespace
}  // namespace braid::http
