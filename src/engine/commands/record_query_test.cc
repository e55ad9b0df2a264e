// configureQueryAnalyzer and $listSampledQueries on an engine: what each command leaves behind.
#include "engine/commands/query_sampler.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/engine.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

using bson::J;

class RecordQueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Engine::Open({.directory = directory_.path(), .cache_bytes = 16u << 20, .clock = &clock_});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
    client_ = engine_->Connect("test");
    Run("{'create': 'c'}");
    Run("{'create': 'other'}");
  }
  bson::Document Run(const std::string& text, const std::string& database = "test",
                     std::vector<DocumentSequence> sequences = {}) {
    const bson::Document body = J(text);
    const Request request{
        .body = body, .sequences = std::move(sequences), .name = body.view().begin()->name, .database = database};
    return engine_->Run(client_, request).body;
  }
  int64_t CodeOf(const std::string& text, const std::string& database = "admin") {
    const bson::Document reply = Run(text, database);
    return reply.view().Has("code") ? bson::Number::Of(reply.Find("code")).ToInt64Clamped() : 0;
  }
  // The reply's own fields.
  std::string Configure(const std::string& mode) {
    const bson::Document reply = Run("{'configureQueryAnalyzer': 'test.c', 'mode': " + mode + "}", "admin");
    std::string shown;
    for (const std::string_view name : {"errmsg", "oldConfiguration", "newConfiguration"}) {
      if (reply.view().Has(name)) shown += StrCat(bson::ToShell(reply.Find(name)), " ");
    }
    return shown;
  }
  // "find { filter: … }" of every sample, a line each.
  std::string Samples(const std::string& options = "") {
    const bson::Document reply =
        Run("{'aggregate': 1, 'cursor': {}, 'pipeline': [{'$listSampledQueries': {" + options + "}}]}", "admin");
    const bson::Value cursor = reply.Find("cursor");
    if (cursor.missing()) return bson::ToShell(reply);
    std::string lines;
    for (const auto& [position, row] : cursor.AsView().Find("firstBatch").AsView()) {
      const bson::View view = row.AsView();
      lines += StrCat(view.Find("cmdName").AsString(), " ", bson::ToShell(view.Find("cmd")), "\n");
    }
    return lines;
  }
  // What is recorded of one command.
  std::string Of(const std::string& text, const std::string& database = "test") {
    Configure("'full', 'samplesPerSecond': 50");
    const size_t before = Samples().size();
    EXPECT_FALSE(Run(text, database).view().Has("errmsg")) << text;
    return Samples().substr(before);
  }

  ManualClock clock_;
  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
  Client client_;
};

TEST_F(RecordQueryTest, ConfigurationIsToldBeforeAndAfter) {
  EXPECT_EQ(Configure("'off'"), "{ mode: \"off\" } ");
  EXPECT_EQ(Configure("'full', 'samplesPerSecond': 5"), "{ mode: \"full\", samplesPerSecond: 5.0 } ");
  EXPECT_EQ(Configure("'full', 'samplesPerSecond': 0.5"),
            "{ mode: \"full\", samplesPerSecond: 5.0 } { mode: \"full\", samplesPerSecond: 0.5 } ");
  EXPECT_EQ(Configure("'off', 'samplesPerSecond': 50"), "{ mode: \"full\", samplesPerSecond: 0.5 } { mode: \"off\" } ");
  EXPECT_FALSE(engine_->parts().query_sampler.active());
}

TEST_F(RecordQueryTest, ConfigurationIsChecked) {
  const auto code = [&](const std::string& rest, const std::string& database = "admin") {
    return CodeOf("{'configureQueryAnalyzer': " + rest + "}", database);
  };
  EXPECT_EQ(code("'test.c', 'mode': 'full', 'samplesPerSecond': 1", "test"), 13);
  EXPECT_EQ(code("'test.c', 'mode': 'some', 'samplesPerSecond': 1"), 2);
  EXPECT_EQ(code("'test.c'"), 40414);
  EXPECT_EQ(code("'test.c', 'mode': 'full'"), 72);
  for (const char* rate : {"0", "-1", "50.1", "{'$numberDouble': 'NaN'}"}) {
    EXPECT_EQ(code(StrCat("'test.c', 'mode': 'full', 'samplesPerSecond': ", rate)), 72) << rate;
  }
  EXPECT_EQ(code("'test.c', 'mode': 'full', 'samplesPerSecond': '1'"), 14);
  EXPECT_EQ(code("'test.c', 'mode': 'full', 'samplesPerSecond': 1, 'x': 1"), 40415);
  EXPECT_EQ(code("'test.none', 'mode': 'full', 'samplesPerSecond': 1"), 26);
  EXPECT_EQ(code("'test.none', 'mode': 'off'"), 26);
  EXPECT_EQ(code("'config.chunks', 'mode': 'full', 'samplesPerSecond': 1"), 20);
  EXPECT_EQ(code("'test', 'mode': 'full', 'samplesPerSecond': 1"), 73);
  EXPECT_EQ(code("'test.c', 'mode': 'full', 'samplesPerSecond': 50"), 0);
}

TEST_F(RecordQueryTest, ReadsLeaveTheirFilter) {
  EXPECT_EQ(Of("{'find': 'c', 'filter': {'a': 1}, 'limit': 3}"), "find { filter: { a: 1 } }\n");
  EXPECT_EQ(Of("{'find': 'c', 'filter': {'a': 1}, 'sort': {'b': 1}, 'let': {'x': 1}, 'collation': {'locale': 'de'}}"),
            "find { filter: { a: 1 }, sort: { b: 1 }, collation: { locale: \"de\" }, let: { x: 1 } }\n");
  EXPECT_EQ(Of("{'find': 'c'}"), "find { filter: {} }\n");
  EXPECT_EQ(Of("{'count': 'c', 'query': {'a': 1}}"), "count { filter: { a: 1 } }\n");
  EXPECT_EQ(Of("{'distinct': 'c', 'key': 'b', 'query': {'a': 1}}"), "distinct { filter: { a: 1 } }\n");
  EXPECT_EQ(Of("{'aggregate': 'c', 'cursor': {}, 'pipeline': [{'$match': {'a': 1}}, {'$match': {'b': 1}}]}"),
            "aggregate { filter: { a: 1 } }\n");
  EXPECT_EQ(Of("{'aggregate': 'c', 'cursor': {}, 'pipeline': [{'$limit': 1}, {'$match': {'b': 1}}]}"),
            "aggregate { filter: {} }\n");
  EXPECT_EQ(Of("{'aggregate': 'c', 'cursor': {}, 'pipeline': []}"), "aggregate { filter: {} }\n");
}

TEST_F(RecordQueryTest, WritesLeaveTheirStatements) {
  EXPECT_EQ(Of("{'insert': 'c', 'documents': [{'a': 1}, {'a': 2}]}"), "insert { insert: \"c\", documents: 2 }\n");
  EXPECT_EQ(Of("{'update': 'c', 'updates': [{'q': {'a': 1}, 'u': {'$set': {'b': 1}}}], 'let': {'x': 1}}"),
            "update { update: \"c\", updates: [ { q: { a: 1 }, u: { $set: { b: 1 } } } ], let: { x: 1 } }\n");
  EXPECT_EQ(Of("{'delete': 'c', 'deletes': [{'q': {'a': 1}, 'limit': 1}, {'q': {'a': 2}, 'limit': 0}]}"),
            "delete { delete: \"c\", deletes: [ { q: { a: 1 }, limit: 1 }, { q: { a: 2 }, limit: 0 } ] }\n");
  EXPECT_EQ(Of("{'findandmodify': 'c', 'query': {'a': 1}, 'remove': true, 'comment': 'x', 'maxTimeMS': 1000}"),
            "findAndModify { findAndModify: \"c\", query: { a: 1 }, remove: true }\n");
}

TEST_F(RecordQueryTest, OperationsOfBulkWriteAreRecordedAsTheirCommands) {
  EXPECT_EQ(Of("{'bulkWrite': 1, 'nsInfo': [{'ns': 'test.other'}, {'ns': 'test.c'}], 'ops': ["
               "{'insert': 0, 'document': {'a': 1}}, {'insert': 1, 'document': {'a': 1}},"
               "{'update': 1, 'filter': {'a': 1}, 'updateMods': {'$set': {'b': 1}}, 'multi': true},"
               "{'delete': 1, 'filter': {'a': 1}}]}",
               "admin"),
            "insert { insert: \"c\", documents: 1 }\n"
            "update { update: \"c\", updates: [ { q: { a: 1 }, u: { $set: { b: 1 } }, multi: true } ] }\n"
            "delete { delete: \"c\", deletes: [ { q: { a: 1 }, limit: 1 } ] }\n");
}

TEST_F(RecordQueryTest, DocumentSequencesAreStatementsToo) {
  Configure("'full', 'samplesPerSecond': 3");
  const bson::Document statement = J("{'q': {'a': 1}, 'limit': 1}");
  Run("{'delete': 'c'}", "test", {{"deletes", std::vector<bson::View>(5, statement.view())}});
  EXPECT_EQ(Samples(),
            "delete { delete: \"c\", deletes: [ { q: { a: 1 }, limit: 1 }, { q: { a: 1 }, limit: 1 }, "
            "{ q: { a: 1 }, limit: 1 } ] }\n");  // three of five: the rate counts statements
}

TEST_F(RecordQueryTest, OnlyWhatRunsOnTheCollectionIsRecorded) {
  Configure("'full', 'samplesPerSecond': 50");
  Run("{'find': 'other'}");
  Run("{'find': 'c'}", "elsewhere");
  Run("{'find': 'c', 'filter': {'$nonsense': 1}}");
  Run("{'explain': {'find': 'c'}}");
  Run("{'collStats': 'c'}");
  EXPECT_EQ(Samples(), "");
  Configure("'off'");
  Run("{'find': 'c'}");
  EXPECT_EQ(Samples(), "");
}

TEST_F(RecordQueryTest, RowsHaveMongoDbsFieldsAndAreChosenByNamespace) {
  Of("{'find': 'c'}");
  EXPECT_EQ(Samples("'namespace': 'test.other'"), "");
  EXPECT_EQ(Samples("'namespace': 'test.c'"), "find { filter: {} }\n");
  const auto rows = engine_->parts().query_sampler.List("");
  ASSERT_EQ(rows.size(), 1u);
  const bson::View row = rows[0];
  std::string names;
  for (const bson::Element& field : row) names += StrCat(field.name, " ");
  EXPECT_EQ(names, "_id ns collectionUuid cmdName cmd expireAt ");
  EXPECT_EQ(row.Find("ns").AsString(), "test.c");
  EXPECT_EQ(row.Find("collectionUuid").AsBinary().bytes, engine_->parts().catalog->Find("test", "c")->uuid);
  EXPECT_EQ(row.Find("expireAt").AsDate(), clock_.NowMillis() + QuerySampler::kKept.count());
}

TEST_F(RecordQueryTest, ADropEndsTheRecording) {
  Configure("'full', 'samplesPerSecond': 50");
  Run("{'drop': 'c'}");
  Run("{'create': 'c'}");
  Run("{'find': 'c'}");
  EXPECT_EQ(Samples(), "");
  engine_->parts().janitor.Sweep();
  EXPECT_FALSE(engine_->parts().query_sampler.active());
}

}  // namespace
}  // namespace braid::commands
