// What tests of a running server share: a handler of the test's own, a client that blocks, and the server between them.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/fiber.h"
#include "base/mutex.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/wire/server.h"
#include "engine/wire/testing/messages.h"

namespace braid::wire::test {

/// A door that requests wait at until the test opens it.
class Gate {
 public:
  void Wait() {
    MutexLock lock(mutex_);
    ++waiting_;
    changed_.NotifyAll();
    changed_.Wait(lock, [this]() BRAID_REQUIRES(mutex_) { return open_; });
  }
  void AwaitWaiting(int count) {
    MutexLock lock(mutex_);
    changed_.Wait(lock, [this, count]() BRAID_REQUIRES(mutex_) { return waiting_ >= count; });
  }
  void Open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int waiting_ BRAID_GUARDED_BY(mutex_) = 0;
  bool open_ BRAID_GUARDED_BY(mutex_) = false;
};

/// Answers {n: <value of the command>}; "wait" waits at the gate, "write" is durable only when the test says so; "park"
/// keeps no thread until "unpark", and "thread" and "park" say which one they end on.
class FakeHandler : public Handler {
 public:
  commands::Client Connect(std::string remote) override {
    ++connected;
    return {.id = ++ids_, .remote = std::move(remote)};
  }
  void Disconnect(const commands::Client&) override { --connected; }
  void Interrupt(const commands::Client&) override {
    ++interrupted;
    if (interrupt_opens) gate.Open();
  }

  commands::Reply Run(commands::Client& client, const commands::Request& request) override {
    if (request.name == "hello") client.said_hello = true;
    if (std::this_thread::get_id() == made_by_) ++run_by_others;
    const bson::Value value = request.body.begin()->value;
    if (request.name == "wait") gate.Wait();
    if (request.name == "park") {
      ++parking;
      parked_.Park();
    }
    if (request.name == "unpark") parked_.Unpark();
    if (request.name == "thread" || request.name == "park")
      return {.body = bson::Make("thread", static_cast<int32_t>(::gettid()))};
    if (request.name == "big") return {.body = bson::Make("text", std::string(value.AsInt32(), 'x'))};
    if (request.name == "drop") return {.close_connection = true};
    if (!request.reply_wanted) ++unanswered;
    return {.body = bson::Make("n", value, "seen", unanswered.load()), .durable_at = request.name == "write" ? 1u : 0u};
  }
  bool IsQuick(const commands::Request& request) override { return request.name == "quick"; }
  void WhenDurable(uint64_t, std::function<void(Status, size_t turn)> done) override {
    const MutexLock lock(mutex_);
    if (sync_now) return done({}, 0);
    waiting_.push_back(std::move(done));
  }
  void Sync(const Status& status) {
    const MutexLock lock(mutex_);
    for (size_t turn = 0; turn < waiting_.size(); ++turn) waiting_[turn](status, turn);
    waiting_.clear();
  }
  size_t WaitingForSync() {
    const MutexLock lock(mutex_);
    return waiting_.size();
  }
  MemoryBudget* memory() override { return &budget; }
  void BeginShutdown() override {
    shut_down = true;
    gate.Open();
  }

  Gate gate;
  std::atomic<int> connected{0};
  std::atomic<int> interrupted{0};
  std::atomic<bool> interrupt_opens{false};
  std::atomic<int> unanswered{0};
  std::atomic<int> run_by_others{0};  // requests that were not run by a thread of the server
  std::atomic<int> parking{0};        // requests that park, or are just about to
  std::atomic<bool> shut_down{false};
  std::atomic<bool> sync_now{false};
  MemoryBudget budget{16u << 20};

 private:
  const std::thread::id made_by_ = std::this_thread::get_id();
  std::atomic<int> ids_{0};
  Parking parked_;
  Mutex mutex_;
  std::vector<std::function<void(Status, size_t)>> waiting_ BRAID_GUARDED_BY(mutex_);
};

/// A client that blocks.
class Connection {
 public:
  explicit Connection(uint16_t port) : socket_(context_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    timeval limit{30, 0};
    setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  void Send(std::string_view bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }

  // The body of the next reply; {closed: true} if the server has closed the connection, {compressed: true} if it is.
  bson::Document Receive() {
    std::string bytes(kHeaderBytes, '\0');
    boost::system::error_code error;
    boost::asio::read(socket_, boost::asio::buffer(bytes), error);
    if (error) return bson::Make("closed", true);
    last_ = ReadHeader(bytes);
    bytes.resize(last_.length);
    boost::asio::read(socket_, boost::asio::buffer(bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes), error);
    if (error) return bson::Make("closed", true);
    if (last_.op_code == kOpCompressed) return bson::Make("compressed", true);
    return bson::Document(bytes.substr(last_.op_code == kOpMsg ? 21 : 36));
  }
  bson::Document Ask(std::string_view json) {
    Send(Msg(Body(bson::J(json))));
    return Receive();
  }
  const Header& last() const { return last_; }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_;
  Header last_;
};

/// A server with two loops and a FakeHandler.
class ServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.port = 0;
    if (options.loops == 0) options.loops = 2;
    auto server = Server::Listen(options);
    ASSERT_OK(server);
    server_ = *std::move(server);
    server_->Serve(handler_);
  }
  Connection Connect() { return Connection(server_->port()); }
  // A connection that has said hello, so that it may send large messages.
  std::unique_ptr<Connection> Greeted() {
    auto connection = std::make_unique<Connection>(server_->port());
    connection->Ask("{'hello': 1, '$db': 'd'}");
    return connection;
  }
  int Active() { return server_->Figures().Find("connections").AsView().Find("active").AsInt32(); }
  template <typename Condition>
  void Eventually(Condition condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(condition());
  }

  FakeHandler handler_;
  std::unique_ptr<Server> server_;
};

}  // namespace braid::wire::test
