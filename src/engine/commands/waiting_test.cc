// Every place where a request waits for others, and every way in which the wait ends: with what it waits for,
// maxTimeMS, killOp, the end of its connection, the end of the server. And that a request that waits keeps no thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "base/fiber.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/engine.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

constexpr const char* kLsid = "{'id': {'$binary': {'base64': 'AAAAAAAAAAAAAAAAAAAAAA==', 'subType': '04'}}}";

constexpr Fiber::Turn kTurn{.at_most = std::chrono::milliseconds(2)};

/// Fibers that can go on.
class ReadyQueue {
 public:
  void Push(Fiber* fiber) {
    const MutexLock lock(mu_);
    ready_.push_back(fiber);
  }
  /// Null if there is none.
  Fiber* Pop() {
    const MutexLock lock(mu_);
    if (ready_.empty()) return nullptr;
    Fiber* const next = ready_.front();
    ready_.pop_front();
    return next;
  }

 private:
  Mutex mu_;
  std::deque<Fiber*> ready_ BRAID_GUARDED_BY(mu_);
};

/// What another request or the test holds meanwhile.
enum class Holds { kDocument, kGate, kGateTogether, kSession, kMoves };

struct WaitingPoint {
  const char* name;
  Holds holds;
  const char* command;  // without the brace at its end
  const char* database = "test";
  const char* before = nullptr;  // sent by the same client first
};

constexpr WaitingPoint kPoints[] = {
    {"UpdateAtDocument", Holds::kDocument, "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$inc': {'n': 1}}}]"},
    {"UpdateManyAtDocument", Holds::kDocument,
     "{'update': 'c', 'updates': [{'q': {}, 'u': {'$inc': {'n': 1}}, 'multi': true}]"},
    {"DeleteAtDocument", Holds::kDocument, "{'delete': 'c', 'deletes': [{'q': {'n': 0}, 'limit': 0}]"},
    {"FindAndModifyAtDocument", Holds::kDocument, "{'findAndModify': 'c', 'query': {'_id': 1}, 'remove': true"},
    {"InsertAtUniqueKey", Holds::kDocument, "{'insert': 'c', 'documents': [{'_id': 9, 'k': 'held'}]"},
    {"IndexBuildAtDocument", Holds::kDocument, "{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n'}]"},
    {"InsertAtGate", Holds::kGate, "{'insert': 'c', 'documents': [{'_id': 9}]"},
    {"UpdateAtGate", Holds::kGate, "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$inc': {'n': 1}}}]"},
    {"MergeAtGate", Holds::kGate, "{'aggregate': 'd', 'pipeline': [{'$merge': 'c'}], 'cursor': {}"},
    {"CommitAtGate", Holds::kGate,
     "{'commitTransaction': 1, 'txnNumber': {'$numberLong': '1'}, 'autocommit': false, 'lsid': $lsid", "admin",
     "{'insert': 'c', 'documents': [{'_id': 9}], 'txnNumber': {'$numberLong': '1'}, 'autocommit': false, "
     "'startTransaction': true, 'lsid': $lsid}"},
    {"CreateIndexAtGate", Holds::kGateTogether, "{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n'}]"},
    {"DropIndexAtGate", Holds::kGateTogether, "{'dropIndexes': 'c', 'index': 'k'"},
    {"CollModAtGate", Holds::kGateTogether, "{'collMod': 'c', 'validationLevel': 'off'"},
    {"RenameAtGate", Holds::kGateTogether, "{'renameCollection': 'test.c', 'to': 'test.e'", "admin"},
    {"RenameOntoAtGate", Holds::kGateTogether, "{'renameCollection': 'test.d', 'to': 'test.c', 'dropTarget': true",
     "admin"},
    {"OutAtGate", Holds::kGateTogether, "{'aggregate': 'd', 'pipeline': [{'$out': 'c'}], 'cursor': {}"},
    {"ShardCollectionAtGate", Holds::kGateTogether, "{'shardCollection': 'test.c', 'key': {'_id': 1}", "admin"},
    {"DropAtGate", Holds::kGateTogether, "{'drop': 'c'"},
    {"DropDatabaseAtGate", Holds::kGateTogether, "{'dropDatabase': 1"},
    {"RetryAtSession", Holds::kSession,
     "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$inc': {'n': 1}}}], 'txnNumber': {'$numberLong': '1'}, "
     "'lsid': $lsid"},
    {"MoveAtAnotherMove", Holds::kMoves, "{'moveChunk': 'test.spread', 'find': {'_id': 5}, 'to': 'shard1'", "admin"},
};

class WaitingTest : public ::testing::TestWithParam<WaitingPoint> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Engine>> opened =
        Engine::Open({.directory = directory_.path(), .shards = 2, .cache_bytes = 16u << 20});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
    Ask(holder_, "{'insert': 'c', 'documents': [{'_id': 1, 'n': 0}, {'_id': 2, 'n': 0}]}");
    Ask(holder_, "{'insert': 'd', 'documents': [{'_id': 3}]}");
    Ask(holder_, "{'createIndexes': 'c', 'indexes': [{'key': {'k': 1}, 'name': 'k', 'unique': true, 'sparse': true}]}");
    if (GetParam().holds != Holds::kMoves) return;
    Ask(holder_, "{'balancerStop': 1}", "admin");
    Ask(holder_, "{'shardCollection': 'test.spread', 'key': {'_id': 1}}", "admin");
    Ask(holder_, "{'split': 'test.spread', 'middle': {'_id': 0}}", "admin");
    Ask(holder_, "{'insert': 'spread', 'documents': [{'_id': -5}, {'_id': 5}]}");
  }
  void TearDown() override { LetGo(); }

  static std::string WithSession(std::string text) {
    if (const size_t at = text.find("$lsid"); at != std::string::npos) text.replace(at, 5, kLsid);
    return text;
  }
  bson::Document Run(Client& client, const std::string& text, const std::string& database = "test") {
    const bson::Document body = bson::J(WithSession(text));
    const Request request{.body = body, .name = body.view().begin()->name, .database = database};
    return engine_->Run(client, request).body;
  }
  static int CodeOf(const bson::Document& reply) {
    if (const bson::Value code = reply.Find("code"); !code.missing()) return code.AsInt32();
    const bson::Value errors = reply.Find("writeErrors");
    return errors.missing() ? 0 : errors.AsView().At(0).AsView().Find("code").AsInt32();
  }
  void Ask(Client& client, const std::string& text, const std::string& database = "test") {
    const bson::Document reply = Run(client, text, database);
    EXPECT_EQ(CodeOf(reply), 0) << text << ": " << bson::ToShell(reply);
  }

  std::string Command(const char* more = "") const { return StrCat(GetParam().command, more, "}"); }
  bson::Document RunPoint(Client& client, const char* more = "") {
    return Run(client, Command(more), GetParam().database);
  }

  // So many operations wait that were sent by the client; by anybody if it is null.
  size_t Waiting(const Client* client) const {
    size_t waiting = 0;
    engine_->parts().operations.ForEach([&](const txn::Operation& operation) {
      if (operation.waiting() && (client == nullptr || operation.connection == client->id)) ++waiting;
    });
    return waiting;
  }
  void AwaitWaiting(const Client& client) const {
    while (Waiting(&client) == 0) std::this_thread::yield();
  }
  Gate& GateOf(const char* collection) { return engine_->parts().catalog->Find("test", collection)->state->gate; }

  void Hold() {
    if (GetParam().before != nullptr) Ask(waiter_, GetParam().before);
    switch (GetParam().holds) {
      case Holds::kDocument: return HoldDocument();
      case Holds::kGate: pass_ = *GateOf("c").Close(patient_); return;
      case Holds::kGateTogether: pass_ = *GateOf("c").Share(patient_); return;
      case Holds::kSession:
        HoldDocument();
        other_ = std::thread([this] {
          Run(other_client_,
              "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$inc': {'n': 1}}}], "
              "'txnNumber': {'$numberLong': '1'}, 'lsid': $lsid}");
        });
        AwaitWaiting(other_client_);
        return;
      case Holds::kMoves:
        pass_ = *GateOf("spread").Share(patient_);
        other_ = std::thread([this] {
          Run(other_client_, "{'moveChunk': 'test.spread', 'find': {'_id': -5}, 'to': 'shard1'}", "admin");
        });
        AwaitWaiting(other_client_);
        return;
    }
  }
  void HoldDocument() {
    in_transaction_ = true;
    Ask(holder_,
        "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'k': 'held'}}}], 'startTransaction': true, "
        "'txnNumber': {'$numberLong': '1'}, 'autocommit': false, "
        "'lsid': {'id': {'$binary': {'base64': 'AQAAAAAAAAAAAAAAAAAAAA==', 'subType': '04'}}}}");
  }
  void LetGo() {
    pass_.Release();
    if (std::exchange(in_transaction_, false)) {
      Run(holder_,
          "{'abortTransaction': 1, 'txnNumber': {'$numberLong': '1'}, 'autocommit': false, "
          "'lsid': {'id': {'$binary': {'base64': 'AQAAAAAAAAAAAAAAAAAAAA==', 'subType': '04'}}}}",
          "admin");
    }
    if (other_.joinable()) other_.join();
  }

  // Runs the point's command, which has to wait, and `end` once it does: the code that it ends with.
  int CodeAfter(const std::function<void()>& end) {
    int code = -1;
    std::thread waits([&] { code = CodeOf(RunPoint(waiter_)); });
    AwaitWaiting(waiter_);
    end();
    waits.join();
    return code;
  }
  // It succeeds now: nothing is left of the attempts before.
  void ExpectDone() {
    const bson::Document reply = RunPoint(waiter_);
    // A transaction whose commit was given up is over.
    EXPECT_EQ(CodeOf(reply), GetParam().before == nullptr ? 0 : static_cast<int>(Code::kNoSuchTransaction))
        << bson::ToShell(reply);
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
  Client holder_{.id = 1};
  Client waiter_{.id = 2};
  Client other_client_{.id = 3};
  PatientWaiter patient_;
  Gate::Pass pass_;
  bool in_transaction_ = false;
  std::thread other_;
};

TEST_P(WaitingTest, EndsWithWhatItWaitsFor) {
  Hold();
  EXPECT_EQ(CodeAfter([this] { LetGo(); }), 0);
  EXPECT_EQ(Waiting(nullptr), 0u);
}

TEST_P(WaitingTest, EndsWithItsTime) {
  Hold();
  EXPECT_EQ(CodeOf(RunPoint(waiter_, ", 'maxTimeMS': 20")), static_cast<int>(Code::kMaxTimeMSExpired));
  LetGo();
  ExpectDone();
}

TEST_P(WaitingTest, EndsWithKillOp) {
  Hold();
  const auto kill = [this] {
    int64_t id = 0;
    engine_->parts().operations.ForEach([&](const txn::Operation& operation) {
      if (operation.connection == waiter_.id) id = operation.id;
    });
    Client killer{.id = 4};
    Ask(killer, StrCat("{'killOp': 1, 'op': ", id, "}"), "admin");
  };
  EXPECT_EQ(CodeAfter(kill), static_cast<int>(Code::kInterrupted));
  LetGo();
  ExpectDone();
}

TEST_P(WaitingTest, EndsWithItsConnection) {
  Hold();
  EXPECT_EQ(CodeAfter([this] { engine_->Interrupt(waiter_); }), static_cast<int>(Code::kClientDisconnect));
  LetGo();
  ExpectDone();
}

TEST_P(WaitingTest, EndsWithTheServer) {
  Hold();
  EXPECT_EQ(CodeAfter([this] { engine_->BeginShutdown(); }), static_cast<int>(Code::kInterruptedAtShutdown));
}

INSTANTIATE_TEST_SUITE_P(All, WaitingTest, ::testing::ValuesIn(kPoints),
                         [](const auto& point) { return std::string(point.param.name); });

// As the server runs them: on fibers. One thread is enough for all of them.
TEST_P(WaitingTest, KeepsNoThread) {
  constexpr int kRequests = 5;
  struct Running {
    explicit Running(ReadyQueue& ready) : fiber([this, &ready] { ready.Push(&fiber); }) {}
    Fiber fiber;
    Client client;
    std::function<void()> body;
    bool ended = false;
  };
  Hold();
  ReadyQueue ready;
  std::vector<std::unique_ptr<Running>> requests;
  for (int i = 0; i < (GetParam().before == nullptr ? kRequests : 1); ++i) {
    Running& request = *requests.emplace_back(std::make_unique<Running>(ready));
    // The commit's is the client that has begun the transaction.
    request.client.id = GetParam().before == nullptr ? 10 + i : waiter_.id;
    request.body = [this, &request] {
      RunPoint(request.client);
      request.ended = true;
    };
    EXPECT_FALSE(request.fiber.Run(request.body, kTurn)) << "it has not waited";
  }
  EXPECT_EQ(Waiting(nullptr), requests.size() + (other_.joinable() ? 1 : 0));
  LetGo();
  const auto ended = [](const auto& request) { return request->ended; };
  while (!std::ranges::all_of(requests, ended)) {
    if (Fiber* const next = ready.Pop()) next->Resume(kTurn);
  }
}

}  // namespace
}  // namespace braid::commands
