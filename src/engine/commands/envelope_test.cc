// The envelope: fields that any command may carry, and the codes of bad ones.
#include "engine/commands/envelope.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::commands {
namespace {

using bson::J;

constexpr Command kWriter = {.name = "insert", .flags = kWrites | kRetryable};
constexpr Command kReader = {.name = "find", .flags = kReadOnly | kTakesReadConcern};
constexpr Command kQuick = {.name = "ping", .flags = kReadOnly};
constexpr std::string_view kSession =
    "'lsid': {'id': {'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}}";

Result<Envelope> Parse(const Command& command, const std::string& fields) {
  // Views of the envelope point into the body: kept until the next call.
  static bson::Document body;
  body = J("{" + fields + "}");
  return Envelope::Parse(command, Request{.body = body, .name = command.name});
}

int CodeOf(const Command& command, const std::string& fields) {
  return static_cast<int>(Parse(command, fields).status().code());
}

std::string WithSession(std::string_view fields) { return std::string(kSession) + ", " + std::string(fields); }

TEST(EnvelopeTest, WriteConcern) {
  const auto concern = [](const char* text) {
    Result<Envelope> envelope = Parse(kWriter, std::string("'writeConcern': ") + text);
    EXPECT_OK(envelope);
    return envelope->write_concern;
  };
  EXPECT_TRUE(Parse(kWriter, "")->write_concern.Wait());
  EXPECT_TRUE(concern("{'w': 1}").Wait());
  EXPECT_TRUE(concern("{'w': 'majority', 'wtimeout': 100}").Wait());
  EXPECT_FALSE(concern("{'j': false}").Wait());
  EXPECT_FALSE(concern("{'w': 0}").Wait());
  EXPECT_TRUE(concern("{'w': 0, 'j': true}").Wait()) << "a wish for the journal wins";
  EXPECT_EQ(concern("{'w': 3}").problem.code(), Code::kUnsatisfiableWriteConcern);
  EXPECT_EQ(concern("{'w': 'tagged'}").problem.code(), Code::kUnknownReplWriteConcern);
  EXPECT_EQ(CodeOf(kWriter, "'writeConcern': {'w': -1}"), 9);
  EXPECT_EQ(CodeOf(kWriter, "'writeConcern': {'w': 51}"), 9);
  EXPECT_EQ(CodeOf(kWriter, "'writeConcern': {'x': 1}"), 9);
  EXPECT_EQ(CodeOf(kWriter, "'writeConcern': 1"), 14);
}

TEST(EnvelopeTest, ReadConcern) {
  for (const char* level : {"local", "available", "majority", "linearizable", "snapshot"}) {
    EXPECT_EQ(CodeOf(kReader, std::string("'readConcern': {'level': '") + level + "'}"), 0) << level;
  }
  EXPECT_EQ(CodeOf(kQuick, "'readConcern': {'level': 'snapshot'}"), 72);
  EXPECT_EQ(CodeOf(kReader, "'readConcern': {'level': 'best'}"), 9);
  constexpr std::string_view kTime = "{'$timestamp': {'t': 5, 'i': 6}}";
  const auto at = Parse(kReader, StrCat("'readConcern': {'level': 'snapshot', 'atClusterTime': ", kTime, "}"));
  ASSERT_OK(at);
  EXPECT_EQ(at->read_concern.at_cluster_time, (uint64_t{5} << 32 | 6));
  EXPECT_EQ(CodeOf(kReader, StrCat("'readConcern': {'atClusterTime': ", kTime, "}")), 72) << "only with snapshot";
  EXPECT_EQ(CodeOf(kReader, "'readConcern': {'atClusterTime': 1}"), 72);
  EXPECT_EQ(CodeOf(kReader, "'readConcern': {'x': 1}"), 72);
}

TEST(EnvelopeTest, MaxTime) {
  EXPECT_EQ(Parse(kReader, "'maxTimeMS': 1000")->max_time_ms, 1000);
  EXPECT_EQ(Parse(kReader, "'maxTimeMS': 2147483647")->max_time_ms, 2147483647);
  for (const char* bad : {"-1", "2147483648", "1.5", "'1'"}) {
    EXPECT_EQ(CodeOf(kReader, std::string("'maxTimeMS': ") + bad), 2) << bad;
  }
  constexpr Command kGetMore = {.name = "getMore", .flags = kReadOnly};
  EXPECT_EQ(Parse(kGetMore, "'maxTimeMS': 1000")->max_time_ms, 0) << "there it is how long to wait for more";
}

TEST(EnvelopeTest, Session) {
  Result<Envelope> envelope = Parse(kReader, std::string(kSession));
  ASSERT_OK(envelope);
  EXPECT_EQ(envelope->lsid.size(), 16u);
  EXPECT_EQ(envelope->lsid[15], 15);
  EXPECT_EQ(CodeOf(kReader, "'lsid': 1"), 14);
  EXPECT_EQ(CodeOf(kReader, "'lsid': {'id': 'x'}"), 72);
  EXPECT_EQ(CodeOf(kReader, "'lsid': {}"), 72);
}

TEST(EnvelopeTest, RetryableWritesAndTransactions) {
  EXPECT_EQ(Parse(kWriter, WithSession("'txnNumber': 5"))->txn_number, 5);
  EXPECT_EQ(CodeOf(kWriter, "'txnNumber': 5"), 72) << "without a session";
  EXPECT_EQ(CodeOf(kWriter, WithSession("'txnNumber': -1")), 72);
  EXPECT_EQ(CodeOf(kWriter, WithSession("'txnNumber': 'x'")), 14);
  EXPECT_EQ(CodeOf(kReader, WithSession("'txnNumber': 5")), 50768);
  EXPECT_EQ(CodeOf(kWriter, WithSession("'autocommit': false")), 72);
  EXPECT_EQ(CodeOf(kWriter, WithSession("'txnNumber': 5, 'autocommit': true")), 72);
  EXPECT_EQ(CodeOf(kWriter, WithSession("'txnNumber': 5, 'startTransaction': true")), 72);
  const std::string_view statement = "'txnNumber': 5, 'autocommit': false";
  EXPECT_EQ(CodeOf(kWriter, WithSession(StrCat(statement, ", 'startTransaction': true"))), 263) << "not a statement";
  constexpr Command kStatement = {.name = "update", .flags = kWrites | kRetryable | kInTransaction};
  const auto started = Parse(kStatement, WithSession(StrCat(statement, ", 'startTransaction': true")));
  ASSERT_OK(started);
  EXPECT_TRUE(started->in_transaction && started->starts_transaction);
  EXPECT_EQ(CodeOf(kStatement, WithSession(StrCat(statement, ", 'startTransaction': false"))), 72);
  EXPECT_EQ(CodeOf(kStatement, WithSession(StrCat(statement, ", 'writeConcern': {'w': 1}"))), 72);
  EXPECT_EQ(CodeOf(kStatement, WithSession(StrCat(statement, ", 'readConcern': {'level': 'local'}"))), 72)
      << "only the first statement has one";
  constexpr Command kEnd = {.name = "commitTransaction", .flags = kWrites | kEndsTransaction};
  EXPECT_EQ(CodeOf(kEnd, WithSession(StrCat(statement, ", 'writeConcern': {'w': 1}"))), 0);
  EXPECT_EQ(CodeOf(kEnd, WithSession(StrCat(statement, ", 'startTransaction': true"))), 263);
  EXPECT_EQ(CodeOf(kEnd, WithSession("'txnNumber': 5")), 72);
}

TEST(EnvelopeTest, ApiVersionAndClusterTime) {
  EXPECT_EQ(CodeOf(kReader, "'apiVersion': '1'"), 0);
  EXPECT_EQ(CodeOf(kReader, "'apiVersion': '2'"), static_cast<int>(Code::kAPIVersionError));
  EXPECT_EQ(CodeOf(kReader, "'apiStrict': true"), static_cast<int>(Code::kAPIVersionError));
  EXPECT_EQ(CodeOf(kReader, "'apiVersion': '1', 'apiStrict': true"), 0);
  constexpr Command kUnstable = {.name = "validate", .flags = kReadOnly};
  EXPECT_EQ(CodeOf(kUnstable, "'apiVersion': '1', 'apiStrict': false"), 0);
  EXPECT_EQ(CodeOf(kUnstable, "'apiVersion': '1', 'apiStrict': true"), static_cast<int>(Code::kAPIStrictError));
  EXPECT_EQ(Parse(kReader, "'$clusterTime': {'clusterTime': {'$timestamp': {'t': 5, 'i': 6}}}")->cluster_time,
            (uint64_t{5} << 32 | 6));
}

TEST(EnvelopeTest, ErrorReply) {
  const bson::Document reply = bson::ErrorReply(Status(Code::kBadValue, "no"));
  EXPECT_EQ(bson::ToShell(reply), bson::ToShell(J("{'ok': 0.0, 'errmsg': 'no', 'code': 2, 'codeName': 'BadValue'}")));
}

TEST(EnvelopeTest, AppendTo) {
  const bson::Document joined = AppendTo(J("{'a': 1}"), J("{'b': 'x', 'c': []}"));
  EXPECT_EQ(joined.bytes(), J("{'a': 1, 'b': 'x', 'c': []}").bytes());
  EXPECT_EQ(AppendTo(J("{}"), J("{}")).bytes(), J("{}").bytes());
}

}  // namespace
}  // namespace braid::commands
