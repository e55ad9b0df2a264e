// What was read as committed stays: which replies wait until all that they show is durable.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/engine.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

class DurableReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Engine::Open({.directory = directory_.path(), .cache_bytes = 16u << 20});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
  }
  Reply Run(std::string text, const std::string& database = "test") {
    if (const size_t at = text.find("$txn"); at != std::string::npos) {
      text.replace(at, 4,
                   "'lsid': {'id': {'$binary': {'base64': 'AAAAAAAAAAAAAAAAAAAAAA==', 'subType': '04'}}}, "
                   "'txnNumber': {'$numberLong': '1'}, 'autocommit': false");
    }
    const bson::Document body = bson::J(text);
    const Request request{.body = body, .name = body.view().begin()->name, .database = database};
    Reply reply = engine_->Run(client_, request);
    EXPECT_TRUE(bson::IsTruthy(reply.body.Find("ok"))) << text << ": " << bson::ToShell(reply.body);
    return reply;
  }
  /// Seen by everybody, and nobody waits for its sync. Its place in the log.
  uint64_t WriteUnacknowledged() {
    const Reply reply = Run("{'insert': 'c', 'documents': [{'a': 1}], 'writeConcern': {'w': 1, 'j': false}}");
    EXPECT_EQ(reply.durable_at, 0u);
    return engine_->parts().store->newest();
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
  Client client_{.id = 1};
};

TEST_F(DurableReadsTest, ReadsOfALevelThatPromisesItWait) {
  for (const char* level : {"majority", "linearizable", "snapshot"}) {
    for (const char* read :
         {"{'find': 'c'", "{'aggregate': 'c', 'pipeline': [], 'cursor': {}", "{'distinct': 'c', 'key': 'a'"}) {
      const uint64_t written = WriteUnacknowledged();
      EXPECT_GE(Run(StrCat(read, ", 'readConcern': {'level': '", level, "'}}")).durable_at, written) << level << read;
    }
  }
}

TEST_F(DurableReadsTest, OtherReadsDoNot) {
  WriteUnacknowledged();
  EXPECT_EQ(Run("{'find': 'c'}").durable_at, 0u);
  EXPECT_EQ(Run("{'aggregate': 'c', 'pipeline': [], 'cursor': {}}").durable_at, 0u);
  for (const char* level : {"local", "available"}) {
    EXPECT_EQ(Run(StrCat("{'find': 'c', 'readConcern': {'level': '", level, "'}}")).durable_at, 0u) << level;
  }
}

// Of a write that was not acknowledged as durable the client learns that there is nothing left to do.
TEST_F(DurableReadsTest, AWriteThatChangesNothingWaitsForWhatItSaw) {
  Run("{'insert': 'c', 'documents': [{'_id': 1, 'a': 0}]}");
  const char* const writes[] = {
      "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'a': 1}}}]",
      "{'update': 'c', 'updates': [{'q': {'_id': 1, 'a': 0}, 'u': {'$set': {'a': 1}}}]",
      "{'delete': 'c', 'deletes': [{'q': {'_id': 1, 'a': 0}, 'limit': 1}]",
      "{'findAndModify': 'c', 'query': {'_id': 1, 'a': 0}, 'update': {'$set': {'a': 1}}",
      "{'insert': 'c', 'documents': [{'_id': 1}]",
      "{'createIndexes': 'c', 'indexes': [{'key': {'_id': 1}, 'name': '_id_'}]",
  };
  for (const char* write : writes) {
    Run("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'a': 0}}}]}");
    Run("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'a': 1}}}], 'writeConcern': {'w': 1, 'j': "
        "false}}");
    const uint64_t seen = engine_->parts().store->newest();
    EXPECT_EQ(Run(StrCat(write, ", 'writeConcern': {'w': 1, 'j': false}}")).durable_at, 0u) << write;
    EXPECT_GE(Run(StrCat(write, "}")).durable_at, seen) << write;
  }
}

TEST_F(DurableReadsTest, TheCommitOfATransactionThatOnlyReadsWaits) {
  const uint64_t written = WriteUnacknowledged();
  EXPECT_EQ(Run("{'find': 'c', 'startTransaction': true, $txn}").durable_at, 0u);
  EXPECT_GE(Run("{'commitTransaction': 1, $txn}", "admin").durable_at, written);
  // And again, if its answer was lost.
  EXPECT_GE(Run("{'commitTransaction': 1, $txn}", "admin").durable_at, written);
}

TEST_F(DurableReadsTest, AnAbortHasPromisedNothing) {
  WriteUnacknowledged();
  Run("{'find': 'c', 'startTransaction': true, $txn}");
  EXPECT_EQ(Run("{'abortTransaction': 1, $txn}", "admin").durable_at, 0u);
}

}  // namespace
}  // namespace braid::commands
