// The server with a handler of the test's own: order, slowness, limits, stopping.
#include "engine/wire/server.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/wire/testing/messages.h"
#include "engine/wire/testing/server.h"

namespace braid::wire {
namespace {

using bson::J;
using test::Body;
using test::Connection;
using test::Msg;
using test::ServerTest;

TEST_F(ServerTest, AnswersAndCounts) {
  Start();
  {
    Connection connection = Connect();
    EXPECT_EQ(connection.Ask("{'ping': 5, '$db': 'd'}").Find("n").AsInt32(), 5);
    EXPECT_EQ(connection.last().response_to, 7);
    connection.Send(test::Query("admin.$cmd", J("{'hello': 6}")));
    EXPECT_EQ(connection.Receive().Find("n").AsInt32(), 6);
    const bson::Document figures = server_->Figures();
    EXPECT_EQ(figures.Find("connections").AsView().Find("current").AsInt32(), 1);
    EXPECT_EQ(figures.Find("connections").AsView().Find("totalCreated").AsInt64(), 1);
    EXPECT_EQ(figures.Find("network").AsView().Find("numRequests").AsInt64(), 2);
    EXPECT_GT(figures.Find("network").AsView().Find("bytesIn").AsInt64(), 50);
    EXPECT_GT(figures.Find("network").AsView().Find("bytesOut").AsInt64(), 50);
  }
  Eventually([this] { return handler_.connected == 0; });
  Eventually([this] { return Active() == 0; });
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  Connection connection = Connect();
  std::string all;
  for (int i = 0; i < 1000; ++i) all += Msg(Body(bson::Make(i % 3 == 0 ? "write" : "ping", i, "$db", "d")), 0, i);
  handler_.sync_now = true;
  std::thread sender([&] { connection.Send(all); });
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(connection.Receive().Find("n").AsInt32(), i);
    ASSERT_EQ(connection.last().response_to, i);
  }
  sender.join();
}

TEST_F(ServerTest, MoreToComeIsRunAndNotAnswered) {
  Start();
  Connection connection = Connect();
  connection.Send(Msg(Body(J("{'write': 1, '$db': 'd'}")), 2) + Msg(Body(J("{'ping': 2}")), 2) +
                  Msg(Body(J("{'ping': 3, '$db': 'd'}"))));
  const bson::Document reply = connection.Receive();
  EXPECT_EQ(reply.Find("n").AsInt32(), 3);
  EXPECT_EQ(reply.Find("seen").AsInt32(), 1);  // the first; the second lacks $db
}

TEST_F(ServerTest, BytesMayComeOneByOne) {
  Start();
  Connection connection = Connect();
  for (const char byte : Msg(Body(J("{'ping': 4, '$db': 'd'}")))) connection.Send({&byte, 1});
  EXPECT_EQ(connection.Receive().Find("n").AsInt32(), 4);
}

TEST_F(ServerTest, LargeMessagesBothWays) {
  Start();
  Connection connection = Connect();
  connection.Ask("{'hello': 1, '$db': 'd'}");
  const std::string text(15'000'000, 'y');
  connection.Send(Msg(Body(bson::Make("ping", 1, "text", text, "$db", "d"))));
  EXPECT_EQ(connection.Receive().Find("n").AsInt32(), 1);
  EXPECT_EQ(connection.Ask("{'big': 16000000, '$db': 'd'}").Find("text").AsString().size(), 16'000'000u);
  EXPECT_EQ(connection.Ask("{'ping': 9, '$db': 'd'}").Find("n").AsInt32(), 9);
}

TEST_F(ServerTest, MessagesAreSmallBeforeHello) {
  Start();
  const auto ping = [](size_t bytes) {
    return Msg(Body(bson::Make("ping", 1, "$db", "d", "x", std::string(bytes, 'x'))));
  };
  EXPECT_EQ(Connect().Ask("{'ping': 5, '$db': 'd'}").Find("n").AsInt32(), 5);
  for (const std::string& large : {ping(kFirstBytesMax), test::Compressed(ping(kFirstBytesMax), Compressor::kZstd)}) {
    Connection stranger = Connect();
    stranger.Send(large.substr(0, 200));  // the rest is not waited for
    EXPECT_TRUE(stranger.Receive().Find("closed").AsBool());
    const auto known = Greeted();
    known->Send(large);
    EXPECT_TRUE(known->Receive().Find("closed").missing());
  }
  Connection small = Connect();
  small.Send(ping(kFirstBytesMax - 200));
  EXPECT_EQ(small.Receive().Find("n").AsInt32(), 1);
}

TEST_F(ServerTest, AMessageWithoutMemoryPassesAndIsRefused) {
  Start();
  const auto connection = Greeted();
  const std::string large = Msg(Body(bson::Make("ping", 1, "$db", "d", "x", std::string(20'000'000, 'x'))));
  connection->Send(large.substr(0, 17'000'000));
  Eventually([this] { return handler_.budget.refused() > 0; });
  Eventually([this] { return handler_.budget.used() == 0; });  // it is released after it was refused
  connection->Send(large.substr(17'000'000));
  EXPECT_EQ(connection->Receive().Find("code").AsInt32(), 146);
  EXPECT_EQ(connection->last().response_to, 7);
  EXPECT_EQ(connection->Ask("{'ping': 9, '$db': 'd'}").Find("n").AsInt32(), 9);
  // One that wants no answer gets none.
  connection->Send(Msg(Body(bson::Make("ping", 1, "$db", "d", "x", std::string(20'000'000, 'x'))), 2));
  EXPECT_EQ(connection->Ask("{'ping': 10, '$db': 'd'}").Find("n").AsInt32(), 10);
}

TEST_F(ServerTest, WhatHasArrivedOfAMessageIsCharged) {
  Start();
  auto connection = Greeted();
  connection->Send(Msg(Body(bson::Make("ping", 1, "$db", "d", "x", std::string(9'000'000, 'x')))).substr(0, 5'000'000));
  Eventually([this] { return handler_.budget.used_by(MemoryHolder::kMessages) >= 5'000'000; });
  connection.reset();
  Eventually([this] { return handler_.budget.used() == 0; });
}

// Whether the client wants an answer is inside: it gets one, and the end of the connection.
TEST_F(ServerTest, ABombWithoutMemoryIsRefusedUnopened) {
  Start();
  const auto connection = Greeted();
  connection->Send(test::Compressed(Msg(Body(bson::Make("ping", 1, "$db", "d", "x", std::string(20'000'000, 'x')))),
                                    Compressor::kZstd));
  EXPECT_EQ(connection->Receive().Find("code").AsInt32(), 146);
  EXPECT_TRUE(connection->Receive().Find("closed").AsBool());
  EXPECT_EQ(handler_.budget.used(), 0u);
}

TEST_F(ServerTest, LargeCompressedMessagesTakeTurns) {
  Start();
  const std::string packed = test::Compressed(
      Msg(Body(bson::Make("ping", 1, "$db", "d", "x", std::string(3'000'000, 'x')))), Compressor::kZlib);
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(Greeted());
    clients.back()->Send(packed);
  }
  for (const auto& client : clients) {
    EXPECT_TRUE(client->Receive().Find("compressed").AsBool());
  }
  const bson::Document figures = server_->Figures();
  const bson::View unpacking = figures.Find("network").AsView().Find("decompression").AsView();
  EXPECT_EQ(unpacking.Find("begun").AsInt64(), 8);
  EXPECT_EQ(unpacking.Find("waiting").AsInt32(), 0);
  Eventually([this] { return handler_.budget.used() == 0; });
}

TEST_F(ServerTest, ReplyWaitsForTheLog) {
  Start();
  Connection writer = Connect();
  Connection other = Connect();
  writer.Send(Msg(Body(J("{'write': 1, '$db': 'd'}"))));
  Eventually([this] { return handler_.WaitingForSync() == 1; });
  EXPECT_EQ(other.Ask("{'ping': 2, '$db': 'd'}").Find("n").AsInt32(), 2);
  Eventually([this] { return Active() == 1; });
  handler_.Sync({});
  EXPECT_EQ(writer.Receive().Find("n").AsInt32(), 1);
  writer.Send(Msg(Body(J("{'write': 3, '$db': 'd'}"))));
  Eventually([this] { return handler_.WaitingForSync() == 1; });
  handler_.Sync(Status(Code::kOutOfDiskSpace, "full"));
  EXPECT_EQ(writer.Receive().Find("code").AsInt32(), 14031);
  EXPECT_EQ(writer.Ask("{'ping': 4, '$db': 'd'}").Find("n").AsInt32(), 4);
}

// The thread that has synced sends replies, the first ones itself, but runs no request that has come meanwhile.
TEST_F(ServerTest, OneSyncAnswersManyAndRunsNothing) {
  Start();
  constexpr int kWriters = 40;
  std::vector<std::unique_ptr<Connection>> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.push_back(std::make_unique<Connection>(server_->port()));
    writers.back()->Send(Msg(Body(bson::Make("write", i, "$db", "d"))) +
                         Msg(Body(bson::Make("ping", 100 + i, "$db", "d"))));
  }
  Eventually([this] { return handler_.WaitingForSync() == kWriters; });
  handler_.Sync({});
  for (int i = 0; i < kWriters; ++i) {
    EXPECT_EQ(writers[i]->Receive().Find("n").AsInt32(), i);
    EXPECT_EQ(writers[i]->Receive().Find("n").AsInt32(), 100 + i);
  }
  EXPECT_EQ(handler_.run_by_others, 0);
}

TEST_F(ServerTest, SlowRequestsDoNotHoldUpOthers) {
  Start();
  std::vector<std::unique_ptr<Connection>> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(std::make_unique<Connection>(server_->port()));
    slow.back()->Send(Msg(Body(bson::Make("wait", i, "$db", "d"))));
    handler_.gate.AwaitWaiting(i + 1);  // each needs a thread of its own
    EXPECT_EQ(Connect().Ask("{'ping': 2, '$db': 'd'}").Find("n").AsInt32(), 2);
  }
  EXPECT_GE(server_->threads(), 11u);
  handler_.gate.Open();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(slow[i]->Receive().Find("n").AsInt32(), i);
    EXPECT_EQ(slow[i]->Ask("{'ping': 3, '$db': 'd'}").Find("n").AsInt32(), 3);
  }
}

TEST_F(ServerTest, QuickRequestsHaveAThreadThatOthersCannotTake) {
  Start({.loops = 1, .threads_max = 2});
  std::vector<std::unique_ptr<Connection>> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(std::make_unique<Connection>(server_->port()));
    slow.back()->Send(Msg(Body(bson::Make("wait", i, "$db", "d"))));
  }
  handler_.gate.AwaitWaiting(4);  // two on threads of the loop, two on threads of the lane
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Connect().Ask("{'quick': 2, '$db': 'd'}").Find("n").AsInt32(), 2);
  EXPECT_LE(server_->threads(), 3u);
  handler_.gate.Open();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(slow[i]->Receive().Find("n").AsInt32(), i);
}

// A client that has gone does not wait for the reply to what it sent first, nor for the second.
TEST_F(ServerTest, AClosedConnectionInterruptsAlsoIfMoreHasCome) {
  Start();
  auto gone = std::make_unique<Connection>(server_->port());
  gone->Send(Msg(Body(J("{'wait': 1, '$db': 'd'}"))) + Msg(Body(J("{'ping': 1, '$db': 'd'}"))));
  handler_.gate.AwaitWaiting(1);
  gone.reset();
  Eventually([this] { return handler_.interrupted > 0; });
  handler_.gate.Open();
}

TEST_F(ServerTest, MalformedMessagesCloseOnlyTheirConnection) {
  Start();
  Connection good = Connect();
  const std::string lies[] = {test::Number(kMessageBytesMax + 1) + std::string(60, 'x'),
                              test::Number(3) + std::string(60, 'x'), test::Framed(2010, "old"),
                              std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")};
  for (const std::string& lie : lies) {
    Connection bad = Connect();
    bad.Send(lie);
    EXPECT_TRUE(bad.Receive().Find("closed").AsBool());
    EXPECT_EQ(good.Ask("{'ping': 1, '$db': 'd'}").Find("n").AsInt32(), 1);
  }
  Connection fatal = Connect();
  fatal.Send(Msg(Body(J("{'ping': 1, '$db': 'd'}")), 4));
  EXPECT_EQ(fatal.Receive().Find("code").AsInt32(), 223);
  EXPECT_TRUE(fatal.Receive().Find("closed").AsBool());
  EXPECT_EQ(good.Ask("{'ping': 1}").Find("code").AsInt32(), 40571);  // an error that keeps the connection
  EXPECT_EQ(good.Ask("{'ping': 1, '$db': 'd'}").Find("n").AsInt32(), 1);
  good.Send(test::Query("d.$cmd", J("{'find': 1}")));
  EXPECT_EQ(good.Receive().Find("code").AsInt32(), 352);
  EXPECT_EQ(good.last().op_code, kOpReply);
  EXPECT_TRUE(good.Ask("{'drop': 1, '$db': 'd'}").Find("closed").AsBool());  // as a fail point asks for
}

TEST_F(ServerTest, ManyIdleConnections) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  Start();
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 2000; ++i) {
    idle.push_back(std::make_unique<Connection>(server_->port()));
    if (i % 10 != 0) continue;
    EXPECT_EQ(idle.back()->Ask("{'ping': 1, '$db': 'd'}").Find("n").AsInt32(), 1);
  }
  EXPECT_EQ(Connect().Ask("{'ping': 2, '$db': 'd'}").Find("n").AsInt32(), 2);
  EXPECT_LE(server_->threads(), 4u);
  server_->Stop();
  EXPECT_EQ(handler_.connected, 0);
  EXPECT_TRUE(idle[1234]->Receive().Find("closed").AsBool());
}

TEST_F(ServerTest, ConnectionsPastTheLimitAreToldSo) {
  Start({.connections_max = 2});
  auto first = std::make_unique<Connection>(server_->port());
  Connection second = Connect();
  EXPECT_EQ(first->Ask("{'ping': 1, '$db': 'd'}").Find("n").AsInt32(), 1);
  EXPECT_EQ(second.Ask("{'ping': 1, '$db': 'd'}").Find("n").AsInt32(), 1);
  Connection third = Connect();
  EXPECT_THAT(std::string(third.Ask("{'ping': 1, '$db': 'd'}").Find("errmsg").AsString()),
              testing::HasSubstr("too many connections"));
  EXPECT_TRUE(third.Receive().Find("closed").AsBool());
  EXPECT_EQ(server_->Figures().Find("connections").AsView().Find("rejected").AsInt64(), 1);
  EXPECT_EQ(server_->Figures().Find("connections").AsView().Find("available").AsInt32(), 0);
  first.reset();
  Eventually([this] { return handler_.connected == 1; });
  EXPECT_EQ(Connect().Ask("{'ping': 1, '$db': 'd'}").Find("n").AsInt32(), 1);
}

TEST_F(ServerTest, StopLetsTheRequestInFlightFinish) {
  Start();
  Connection busy = Connect();
  Connection idle = Connect();
  Connection half = Connect();
  half.Send(Msg(Body(J("{'ping': 1, '$db': 'd'}"))).substr(0, 20));
  busy.Send(Msg(Body(J("{'wait': 8, '$db': 'd'}"))));
  handler_.gate.AwaitWaiting(1);
  std::thread stopper([this] { server_->Stop(); });
  EXPECT_TRUE(idle.Receive().Find("closed").AsBool());
  EXPECT_TRUE(half.Receive().Find("closed").AsBool());
  EXPECT_EQ(handler_.connected, 1);
  EXPECT_THROW(Connect(), boost::system::system_error);
  handler_.gate.Open();
  EXPECT_EQ(busy.Receive().Find("n").AsInt32(), 8);
  EXPECT_TRUE(busy.Receive().Find("closed").AsBool());
  stopper.join();
  EXPECT_FALSE(handler_.shut_down);
}

TEST_F(ServerTest, StopInterruptsWhatDoesNotEnd) {
  Start({.stop_grace = std::chrono::milliseconds(50)});
  Connection busy = Connect();
  busy.Send(Msg(Body(J("{'wait': 8, '$db': 'd'}"))));
  handler_.gate.AwaitWaiting(1);
  server_->Stop();
  EXPECT_TRUE(handler_.shut_down);
  EXPECT_EQ(busy.Receive().Find("n").AsInt32(), 8);
}

// Once the server stops, a connection that its client has closed looks like all others.
TEST_F(ServerTest, StopDoesNotWaitForClientsThatHaveJustLeft) {
  Start();
  handler_.interrupt_opens = true;
  auto gone = std::make_unique<Connection>(server_->port());
  gone->Send(Msg(Body(J("{'wait': 1, '$db': 'd'}"))));
  handler_.gate.AwaitWaiting(1);
  gone.reset();
  server_->Stop();
  EXPECT_GE(handler_.interrupted, 1);
  EXPECT_FALSE(handler_.shut_down);
}

TEST_F(ServerTest, ManyClientsAtOnce) {
  Start({.loops = 3});
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  handler_.sync_now = true;
  for (int c = 0; c < 16; ++c) {
    clients.emplace_back([&, c] {
      for (int round = 0; round < 5; ++round) {
        Connection connection = Connect();
        connection.Send(test::Query("admin.$cmd", J("{'hello': 1}")));
        connection.Receive();
        for (int i = 0; i < 50; ++i) {
          const int n = c * 1000 + i;
          const bson::Document body = bson::Make(i % 2 == 0 ? "ping" : "write", n, "$db", "d");
          connection.Send(Msg(Body(body)));
          if (connection.Receive().Find("n").AsInt32() == n) ++right;
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 16 * 5 * 50);
  Eventually([this] { return handler_.connected == 0; });
}

TEST(ServerOptionsTest, OnlyLoopbackAddresses) {
  for (const char* address : {"0.0.0.0", "::", "192.168.1.1", "example.org", ""}) {
    EXPECT_FALSE(ServerOptions{.addresses = {address}}.Validate().ok()) << address;
  }
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1", "localhost"}) {
    EXPECT_OK(ServerOptions{.addresses = {address}}.Validate());
  }
  EXPECT_FALSE(ServerOptions{.connections_max = 0}.Validate().ok());
}

TEST(ServerOptionsTest, PortInUseSaysWhatToDo) {
  auto first = Server::Listen({.port = 0, .loops = 1});
  ASSERT_OK(first);
  const auto second = Server::Listen({.port = (*first)->port(), .loops = 1});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.error().message()), testing::HasSubstr("--port"));
}

}  // namespace
}  // namespace braid::wire
