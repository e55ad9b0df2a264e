// A whole engine under threads: what was acknowledged is there, once, whatever else goes on meanwhile. Run under the
// sanitizers, it is also the test of everything that the commands share.
#include "engine/commands/engine.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

using bson::J;

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Engine>> opened =
        Engine::Open({.directory = directory_.path(), .cache_bytes = 16u << 20, .test_commands = true});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
  }

  // The reply, after it is durable.
  bson::Document Run(Client& client, const std::string& text, const std::string& database = "test") {
    const bson::Document body = J(text);
    Request request{.body = body, .name = body.view().begin()->name, .database = database};
    Reply reply = engine_->Run(client, request);
    if (reply.durable_at > 0) EXPECT_OK(engine_->WaitDurable(reply.durable_at));
    return std::move(reply.body);
  }
  static bool Succeeded(const bson::Document& reply) { return bson::IsTruthy(reply.Find("ok")); }
  static int64_t IntegerOf(const bson::Value& value) { return bson::Number::Of(value).ToInt64Clamped(); }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

// How soon they end then is tested beside the cursors.
TEST_F(EngineTest, CursorsKnowWhetherTheirConnectionIsClosed) {
  Client leaving = engine_->Connect("leaving");
  Client staying = engine_->Connect("staying");
  Run(leaving, "{'insert': 'c', 'documents': [{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4}]}");
  const bson::Document first = Run(leaving, "{'find': 'c', 'batchSize': 1}");
  const int64_t id = IntegerOf(first.Find("cursor").AsView().Find("id"));
  ASSERT_NE(id, 0);
  const auto is_closed = [&] {
    int64_t closed_millis = -1;
    engine_->parts().cursors.ForEach([&](const OpenCursor& cursor) { closed_millis = cursor.closed_millis; });
    EXPECT_GE(closed_millis, 0);
    return closed_millis > 0;
  };
  EXPECT_FALSE(is_closed());
  engine_->Disconnect(staying);
  EXPECT_FALSE(is_closed()) << "it is the other connection's";
  engine_->Disconnect(leaving);
  EXPECT_TRUE(is_closed());
  Client next = engine_->Connect("next");
  Run(next, StrCat("{'getMore': {'$numberLong': '", id, "'}, 'collection': 'c', 'batchSize': 1}"));
  EXPECT_FALSE(is_closed()) << "another connection of the client goes on with it";
}

// The wire keeps the reply until it is sent.
TEST_F(EngineTest, ALargeReplyIsChargedForAsLongAsItIsKept) {
  Client client = engine_->Connect("test");
  const std::string text(100'000, 'x');
  for (int i = 0; i < 3; ++i)
    Run(client, StrCat("{'insert': 'c', 'documents': [{'_id': ", i, ", 't': '", text, "'}]}"));
  const bson::Document body = J("{'find': 'c'}");
  const Request request{.body = body, .name = "find", .database = "test"};
  const uint64_t before = engine_->memory().used();
  {
    const Reply reply = engine_->Run(client, request);
    EXPECT_GT(reply.body.bytes().size(), 3 * text.size());
    EXPECT_GE(engine_->memory().used(), before + reply.body.bytes().size());
  }
  EXPECT_EQ(engine_->memory().used(), before);
}

// The stored record of the session is still that of the number before.
TEST_F(EngineTest, AFailedRetryableWriteDoesNotTakeTheNotesOfTheNumberBefore) {
  Client client = engine_->Connect("test");
  const auto insert = [&](int number) {
    return Run(client,
               StrCat("{'insert': 'c', 'documents': [{'_id': 1}], 'lsid': {'id': {'$binary': {'base64': ",
                      "'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}}, 'txnNumber': {'$numberLong': '", number, "'}}"));
  };
  EXPECT_EQ(IntegerOf(insert(1).Find("n")), 1);
  EXPECT_TRUE(insert(2).view().Has("writeErrors")) << "a duplicate key";
  Run(client, "{'delete': 'c', 'deletes': [{'q': {}, 'limit': 0}]}");
  const bson::Document again = insert(2);
  EXPECT_EQ(IntegerOf(again.Find("n")), 1);
  EXPECT_FALSE(again.view().Has("retriedStmtIds")) << "it was not done before";
  EXPECT_TRUE(insert(2).view().Has("retriedStmtIds"));
  EXPECT_EQ(IntegerOf(Run(client, "{'count': 'c'}").Find("n")), 1);
}

TEST_F(EngineTest, EveryReplyIsSealed) {
  Client client = engine_->Connect("test");
  for (const char* command : {"{'ping': 1}", "{'nothing': 1}", "{'find': 'c'}", "{'find': 5}", "{'mapReduce': 'c'}"}) {
    const bson::Document reply = Run(client, command);
    EXPECT_TRUE(reply.view().Has("ok")) << command;
    EXPECT_TRUE(reply.view().Has("$clusterTime")) << command;
    EXPECT_TRUE(reply.view().Has("operationTime")) << command;
  }
}

TEST_F(EngineTest, IncrementsOfManyAreAllThere) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::atomic<int64_t> acknowledged{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      Client client = engine_->Connect(StrCat("writer", t));
      for (int i = 0; i < kRounds; ++i) {
        const bson::Document reply =
            Run(client, "{'update': 'c', 'updates': [{'q': {'_id': 'hot'}, 'u': {'$inc': {'n': 1}}, 'upsert': true}]}");
        if (Succeeded(reply) && IntegerOf(reply.Find("n")) == 1) ++acknowledged;
        Run(client, StrCat("{'insert': 'c', 'documents': [{'_id': ", t * kRounds + i, ", 'a': ", i % 7, "}]}"));
      }
    });
  }
  // Other clients look, list, build and drop meanwhile; their answers do not matter, only that nobody is disturbed.
  std::thread bystander([&] {
    Client client = engine_->Connect("bystander");
    while (!over) {
      Run(client, "{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'a'}]}");
      const bson::Document first = Run(client, "{'find': 'c', 'filter': {'a': {'$gte': 0}}, 'batchSize': 1}");
      const bson::Value cursor = first.Find("cursor");
      if (cursor.Is(bson::Type::kObject)) {
        const int64_t id = IntegerOf(cursor.AsView().Find("id"));
        if (id != 0) Run(client, StrCat("{'getMore': {'$numberLong': '", id, "'}, 'collection': 'c'}"));
      }
      Run(client, "{'aggregate': 'c', 'pipeline': [{'$group': {'_id': '$a', 'n': {'$sum': 1}}}], 'cursor': {}}");
      Run(client, "{'serverStatus': 1}", "admin");
      Run(client, "{'currentOp': 1}", "admin");
      Run(client, "{'dropIndexes': 'c', 'index': 'a'}");
      engine_->parts().janitor.Sweep();
    }
  });
  for (std::thread& writer : writers) writer.join();
  over = true;
  bystander.join();

  Client client = engine_->Connect("reader");
  const bson::Document found = Run(client, "{'find': 'c', 'filter': {'_id': 'hot'}}");
  const bson::View hot = found.Find("cursor").AsView().Find("firstBatch").AsView().At(0).AsView();
  EXPECT_EQ(IntegerOf(hot.Find("n")), kThreads * kRounds);
  EXPECT_EQ(acknowledged, kThreads * kRounds);
  EXPECT_EQ(IntegerOf(Run(client, "{'count': 'c'}").Find("n")), kThreads * kRounds + 1);
  const bson::Document validated = Run(client, "{'validate': 'c'}");
  EXPECT_TRUE(bson::IsTruthy(validated.Find("valid"))) << bson::ToShell(validated);
}

TEST_F(EngineTest, AfterTheBeginOfTheEndCommandsAreRefused) {
  Client client = engine_->Connect("test");
  engine_->BeginShutdown();
  EXPECT_EQ(IntegerOf(Run(client, "{'find': 'c'}").Find("code")), static_cast<int>(Code::kInterruptedAtShutdown));
  EXPECT_EQ(engine_->running(), 0u);
}

}  // namespace
}  // namespace braid::commands
