// The views of config over a collection that was spread by hand: what each row says, and what may be changed.
#include "engine/commands/shared/config_views.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/engine.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

using bson::J;

class ConfigViewsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Engine::Open({.directory = directory_.path(), .shards = 2, .cache_bytes = 16u << 20});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
    client_ = engine_->Connect("test");
    Run("{'create': 'c'}");
    Place([](sharding::Placement* placement) -> Status {
      BRAID_TRY(placement->key, sharding::ShardKey::Parse(J("{'k': 'hashed'}")));
      return sharding::SplitInitially({0, 1}, 0, 4, placement);
    });
  }

  void Place(const std::function<Status(sharding::Placement*)>& change) {
    catalog::Catalog& catalog = *engine_->parts().catalog;
    const auto collection = catalog.Find("test", "c");
    ASSERT_OK(catalog.Place(collection->ns, collection->number,
                            [&](sharding::Placement* placement, storage::WriteSet&) { return change(placement); }));
  }

  bson::Document Run(const std::string& text, const std::string& database = "test") {
    const bson::Document body = J(text);
    const Request request{.body = body, .name = body.view().begin()->name, .database = database};
    return engine_->Run(client_, request).body;
  }
  static int64_t Number(const bson::Value& value) { return bson::Number::Of(value).ToInt64Clamped(); }
  int64_t CodeOf(const std::string& text, const std::string& database) {
    const bson::Document reply = Run(text, database);
    if (const bson::Value errors = reply.Find("writeErrors"); !errors.missing()) {
      return Number(errors.AsView().begin()->value.AsView().Find("code"));
    }
    return reply.view().Has("code") ? Number(reply.Find("code")) : 0;
  }
  /// The rows that a find or aggregate gives, a line each, without what differs from run to run.
  std::string RowsOf(const std::string& command, const std::string& database = "config") {
    const bson::Document reply = Run(command, database);
    const bson::Value cursor = reply.Find("cursor");
    if (cursor.missing()) return bson::ToShell(reply);
    std::string rows;
    for (const auto& [position, row] : cursor.AsView().Find("firstBatch").AsView()) {
      rows += bson::ToShell(row.AsView()) + "\n";
    }
    return rows;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
  Client client_;
};

TEST_F(ConfigViewsTest, ShowHowACollectionIsSpread) {
  EXPECT_EQ(RowsOf("{'find': 'collections', 'projection': {'key': 1, 'unique': 1, 'noBalance': 1}}"),
            "{ _id: \"test.c\", key: { k: \"hashed\" }, unique: false, noBalance: false }\n");
  EXPECT_EQ(RowsOf("{'aggregate': 'chunks', 'cursor': {}, 'pipeline': [{'$group': {'_id': '$shard', 'n': {'$sum': 1}}},"
                   " {'$sort': {'_id': 1}}]}"),
            "{ _id: \"shard0\", n: 2 }\n{ _id: \"shard1\", n: 2 }\n");
  EXPECT_EQ(RowsOf("{'find': 'chunks', 'sort': {'min': 1}, 'limit': 1, 'projection': {'_id': 0, 'min': 1, 'max': 1}}"),
            "{ min: { k: MinKey }, max: { k: -4611686018427387902 } }\n");
  EXPECT_EQ(RowsOf("{'find': 'databases', 'projection': {'primary': 1}}"), "{ _id: \"test\", primary: \"shard0\" }\n");
  EXPECT_EQ(RowsOf("{'find': 'shards', 'projection': {'state': 1}, 'hint': {'$natural': -1}}"),
            "{ _id: \"shard1\", state: 1 }\n{ _id: \"shard0\", state: 1 }\n");
  EXPECT_EQ(RowsOf("{'find': 'migrations'}"), "");
}

TEST_F(ConfigViewsTest, ShowWhatMoves) {
  Place([](sharding::Placement* placement) {
    placement->chunks[1].from = placement->chunks[1].shard;
    placement->chunks[1].shard = 1;
    return Status();
  });
  EXPECT_EQ(RowsOf("{'find': 'migrations', 'projection': {'_id': 0, 'min': 0, 'max': 0}}"),
            "{ ns: \"test.c\", fromShard: \"shard0\", toShard: \"shard1\" }\n");
  const bson::Document status = Run("{'balancerCollectionStatus': 'test.c'}", "admin");
  EXPECT_FALSE(status.Find("balancerCompliant").AsBool());
  EXPECT_EQ(status.Find("firstComplianceViolation").AsString(), "chunksImbalance");
}

TEST_F(ConfigViewsTest, ADrainingShardIsShown) {
  EXPECT_TRUE(Run("{'balancerCollectionStatus': 'test.c'}", "admin").Find("balancerCompliant").AsBool());
  ASSERT_OK(engine_->parts().catalog->ChangeCluster([](catalog::Cluster* cluster) {
    cluster->shards[1].draining = true;
    return Status();
  }));
  EXPECT_EQ(RowsOf("{'find': 'shards', 'filter': {'draining': true}, 'projection': {'_id': 1}}"),
            "{ _id: \"shard1\" }\n");
  EXPECT_EQ(Run("{'balancerCollectionStatus': 'test.c'}", "admin").Find("firstComplianceViolation").AsString(),
            "draining");
  EXPECT_EQ(CodeOf("{'balancerCollectionStatus': 'test.none'}", "admin"), 118);
}

TEST_F(ConfigViewsTest, OnlyNoBalanceOfCollectionsCanBeSet) {
  const auto update = [](std::string_view u, std::string_view more = "") {
    return StrCat("{'update': 'collections', 'updates': [{'q': {'_id': 'test.c'}, 'u': ", u, more, "}]}");
  };
  const auto no_balance = [this] { return engine_->parts().catalog->Find("test", "c")->placement->no_balance; };
  EXPECT_EQ(Number(Run(update("{'$set': {'noBalance': true}}"), "config").Find("nModified")), 1);
  EXPECT_TRUE(no_balance());
  EXPECT_EQ(Number(Run(update("{'$set': {'noBalance': true}}"), "config").Find("nModified")), 0);
  EXPECT_EQ(Number(Run(update("{'$unset': {'noBalance': 1}}", ", 'multi': true"), "config").Find("nModified")), 1);
  EXPECT_FALSE(no_balance());
  EXPECT_EQ(CodeOf(update("{'$set': {'unique': true}}"), "config"), 166);
  EXPECT_EQ(CodeOf(update("{'$set': {'noBalance': true, 'x': 1}}"), "config"), 166);
  EXPECT_EQ(CodeOf(update("{'$set': {'noBalance': 1}}"), "config"), 14);
  EXPECT_EQ(CodeOf(update("{'$set': {'noBalance': true}}", ", 'upsert': true"), "config"), 166);
  EXPECT_FALSE(no_balance());
}

TEST_F(ConfigViewsTest, NothingElseChangesAView) {
  const char* const commands[] = {
      "{'insert': 'chunks', 'documents': [{'_id': 1}]}",
      "{'update': 'shards', 'updates': [{'q': {}, 'u': {'$set': {'state': 0}}}]}",
      "{'delete': 'collections', 'deletes': [{'q': {}, 'limit': 0}]}",
      "{'findAndModify': 'version', 'query': {}, 'update': {'$set': {'x': 1}}}",
      "{'findAndModify': 'version', 'query': {}, 'remove': true}",
      "{'create': 'tags'}",
      "{'drop': 'databases'}",
      "{'collMod': 'locks'}",
      "{'createIndexes': 'chunks', 'indexes': [{'key': {'a': 1}, 'name': 'a'}]}",
      "{'dropIndexes': 'chunks', 'index': '*'}",
  };
  for (const char* command : commands) EXPECT_EQ(CodeOf(command, "config"), 166) << command;
  EXPECT_EQ(CodeOf("{'renameCollection': 'config.chunks', 'to': 'test.x'}", "admin"), 166);
  EXPECT_EQ(CodeOf("{'renameCollection': 'test.c', 'to': 'config.chunks'}", "admin"), 166);
  EXPECT_EQ(CodeOf("{'insert': 'settings', 'documents': [{'_id': 'balancer', 'stopped': true}]}", "config"), 0);
}

TEST_F(ConfigViewsTest, OptionsOfAReadWorkAsOnAnyCollection) {
  EXPECT_EQ(CodeOf("{'find': 'shards', 'hint': 'nope'}", "config"), 2);
  EXPECT_EQ(CodeOf("{'find': 'shards', 'hint': '_id_', 'min': {'_id': 'a'}}", "config"), 167);
  EXPECT_EQ(RowsOf("{'find': 'shards', 'filter': {'_id': 'shard1'}, 'returnKey': true}"), "{}\n");
  EXPECT_NE(RowsOf("{'find': 'shards', 'filter': {'_id': 'shard1'}, 'showRecordId': true}").find("$recordId"),
            std::string::npos);
  EXPECT_EQ(Number(Run("{'count': 'shards', 'skip': 1}", "config").Find("n")), 1);
  EXPECT_EQ(Number(Run("{'count': 'chunks', 'query': {'shard': 'shard1'}}", "config").Find("n")), 2);
  EXPECT_EQ(CodeOf("{'validate': 'chunks'}", "config"), 166);
}

TEST_F(ConfigViewsTest, FiguresOfEachShard) {
  std::string documents;
  for (int i = 0; i < 40; ++i) documents += StrCat(i == 0 ? "" : ", ", "{'_id': ", i, ", 'k': ", i, "}");
  EXPECT_EQ(CodeOf(StrCat("{'insert': 'c', 'documents': [", documents, "]}"), "test"), 0);
  const bson::Document reply = Run(
      "{'aggregate': 1, 'cursor': {}, 'pipeline': [{'$shardedDataDistribution': {}}, {'$match': {'ns': 'test.c'}}]}",
      "admin");
  const bson::View row = reply.Find("cursor").AsView().Find("firstBatch").AsView().begin()->value.AsView();
  int64_t owned = 0;
  int64_t bytes = 0;
  for (const auto& [position, shard] : row.Find("shards").AsView()) {
    EXPECT_GT(Number(shard.AsView().Find("numOwnedDocuments")), 0);
    EXPECT_EQ(Number(shard.AsView().Find("numOrphanedDocs")), 0);
    owned += Number(shard.AsView().Find("numOwnedDocuments"));
    bytes += Number(shard.AsView().Find("ownedSizeBytes"));
  }
  EXPECT_EQ(owned, 40);
  EXPECT_EQ(bytes, Number(Run("{'collStats': 'c'}").Find("size")));

  Run("{'find': 'c', 'filter': {'k': 7}}");
  Run("{'find': 'c', 'filter': {'_id': 7}}");
  const bson::Document status = Run("{'serverStatus': 1}", "admin");
  const bson::View routed =
      status.Find("shardingStatistics").AsView().Find("collections").AsView().begin()->value.AsView();
  EXPECT_EQ(Number(routed.Find("targeted")), 41);
  EXPECT_EQ(Number(routed.Find("scattered")), 1);
  double asked = 0, written = 0;
  size_t shards = 0;
  for (const auto& [name, shard] : routed.Find("shards").AsView()) {
    asked += Number(shard.AsView().Find("asked"));
    written += Number(shard.AsView().Find("written"));
    ++shards;
  }
  EXPECT_EQ(asked, static_cast<double>(shards) + 1);  // each was scattered to, one was targeted
  EXPECT_EQ(written, 40);
}

}  // namespace
}  // namespace braid::commands
