// braidBackup and braidVerify: their streams, and when they end.
#include <vector>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/engine.h"
#include "engine/commands/parts.h"
#include "engine/storage/keys.h"
#include "engine/storage/store_files.h"

namespace braid::commands {
namespace {

using bson::J;

class BackupCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Engine>> opened = Engine::Open({.directory = directory_.path(), .cache_bytes = 16u << 20});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
    client_ = engine_->Connect("test");
    Run("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'by_a'}]}", "test");
    for (int i = 0; i < 20; ++i) Run(StrCat("{'insert': 'c', 'documents': [{'_id': ", i, ", 'a': ", i, "}]}"), "test");
  }

  bson::Document Run(const std::string& text, const std::string& database = "admin") {
    const bson::Document body = J(text);
    const Request request{.body = body, .name = body.view().begin()->name, .database = database};
    return engine_->Run(client_, request).body;
  }
  static int64_t IdOf(const bson::Document& reply) {
    return bson::Number::Of(reply.Find("cursor").AsView().Find("id")).ToInt64Clamped();
  }
  /// All rows of a cursor, in batches of two.
  std::vector<bson::Document> Rows(const std::string& command, const std::string& collection) {
    std::vector<bson::Document> rows;
    bson::Document reply = Run(command);
    EXPECT_TRUE(bson::IsTruthy(reply.Find("ok"))) << bson::ToShell(reply.view());
    for (const char* batch = "firstBatch";; batch = "nextBatch") {
      for (const bson::Element& row : reply.Find("cursor").AsView().Find(batch).AsView()) {
        rows.emplace_back(row.value.AsView());
      }
      const int64_t id = IdOf(reply);
      if (id == 0) return rows;
      reply = Run(StrCat("{'getMore': {'$numberLong': '", id, "'}, 'collection': '", collection, "', 'batchSize': 2}"));
      EXPECT_TRUE(bson::IsTruthy(reply.Find("ok"))) << bson::ToShell(reply.view());
    }
  }
  std::vector<bson::Document> Backup(const std::string& have = "[]") {
    return Rows(StrCat("{'braidBackup': 1, 'have': ", have, ", 'cursor': {'batchSize': 0}}"), "$cmd.braidBackup");
  }
  std::vector<bson::Document> Verify() {
    return Rows("{'braidVerify': 1, 'cursor': {'batchSize': 0}}", "$cmd.braidVerify");
  }
  /// The rows with errors, as text.
  static std::string Damage(const std::vector<bson::Document>& rows) {
    std::string text;
    for (const bson::Document& row : rows) {
      const bson::Value errors = row.Find("errors");
      if (errors.Is(bson::Type::kArray) && !errors.AsView().empty()) text += bson::ToShell(row.view());
    }
    return text;
  }
  storage::Store& store() { return *engine_->parts().store; }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
  Client client_;
};

TEST_F(BackupCommandTest, EveryFileComesWithItsBytes) {
  const std::vector<bson::Document> rows = Backup();
  ASSERT_GT(rows.size(), 5u);
  EXPECT_EQ(bson::Number::Of(rows.front().Find("position")).ToInt64Clamped(), static_cast<int64_t>(store().newest()));
  EXPECT_TRUE(bson::IsTruthy(rows.back().Find("end")));
  int64_t announced = 0;
  int64_t sent = 0;
  int64_t files = 0;
  for (const bson::Document& row : rows) {
    if (row.Find("data").Is(bson::Type::kBinary))
      sent += static_cast<int64_t>(row.Find("data").AsBinary().bytes.size());
    if (!row.Find("file").Is(bson::Type::kString)) continue;
    ++files;
    announced += bson::Number::Of(row.Find("size")).ToInt64Clamped();
  }
  EXPECT_EQ(announced, sent);
  EXPECT_EQ(sent, bson::Number::Of(rows.front().Find("bytes")).ToInt64Clamped());
  EXPECT_EQ(files, bson::Number::Of(rows.front().Find("files")).ToInt64Clamped());
}

TEST_F(BackupCommandTest, TablesTheClientHasAreNotSent) {
  const std::vector<bson::Document> first = Backup();
  const bson::View table = first[1].view();
  ASSERT_TRUE(bson::IsTruthy(table.Find("table")));
  const auto have = [&table](int64_t mark) {
    return StrCat("[{'name': '", table.Find("file").AsString(),
                  "', 'size': ", bson::Number::Of(table.Find("size")).ToInt64Clamped(), ", 'mark': {'$numberLong': '",
                  mark, "'}}]");
  };
  const int64_t mark = bson::Number::Of(table.Find("mark")).ToInt64Clamped();
  const std::vector<bson::Document> again = Backup(have(mark));
  EXPECT_TRUE(bson::IsTruthy(again[1].Find("have")));
  EXPECT_FALSE(again[2].view().Has("data"));
  const std::vector<bson::Document> other = Backup(have(mark + 1));
  EXPECT_FALSE(bson::IsTruthy(other[1].Find("have")));
  EXPECT_TRUE(other[2].view().Has("data"));
}

TEST_F(BackupCommandTest, EndsWithItsConnection) {
  const Cursors& cursors = engine_->parts().cursors;
  EXPECT_NE(IdOf(Run("{'braidBackup': 1, 'cursor': {'batchSize': 0}}")), 0);
  EXPECT_EQ(cursors.figures().open, 1u);
  engine_->Disconnect(client_);
  EXPECT_EQ(cursors.figures().open, 0u);
  // Nothing is kept: as many as may be at a time can begin again.
  for (int i = 0; i < storage::Store::kPinsMax; ++i) {
    EXPECT_NE(IdOf(Run("{'braidBackup': 1, 'cursor': {'batchSize': 0}}")), 0);
  }
  EXPECT_FALSE(bson::IsTruthy(Run("{'braidBackup': 1, 'cursor': {'batchSize': 0}}").Find("ok")));
}

TEST_F(BackupCommandTest, OnlyOnAdmin) {
  EXPECT_FALSE(bson::IsTruthy(Run("{'braidBackup': 1}", "test").Find("ok")));
  EXPECT_FALSE(bson::IsTruthy(Run("{'braidVerify': 1}", "test").Find("ok")));
}

TEST_F(BackupCommandTest, SoundStoreHasNoDamage) {
  Run("{'enableSharding': 'sharded'}");
  Run("{'shardCollection': 'sharded.c', 'key': {'k': 'hashed'}}");
  Run("{'createIndexes': 'c', 'indexes': [{'key': {'u': 1}, 'name': 'u', 'unique': true}]}", "sharded");
  for (int i = 0; i < 20; ++i) {
    Run(StrCat("{'insert': 'c', 'documents': [{'_id': ", i, ", 'k': ", i, ", 'u': [", i, ", 'x", i, "']}]}"),
        "sharded");
  }
  Run("{'insert': 'gone', 'documents': [{'_id': 1}]}", "test");
  Run("{'drop': 'gone'}", "test");
  const std::vector<bson::Document> rows = Verify();
  EXPECT_EQ(Damage(rows), "");
  int64_t documents = 0;
  for (const bson::Document& row : rows) {
    const bson::Value name = row.Find("collection");
    if (!name.Is(bson::Type::kString) || name.AsString().starts_with("config.")) continue;
    documents += bson::Number::Of(row.Find("documents")).ToInt64Clamped();
  }
  EXPECT_EQ(documents, 40);
  EXPECT_TRUE(bson::IsTruthy(rows.back().Find("end")));
}

TEST_F(BackupCommandTest, MissingEntryIsNamed) {
  const catalog::CollectionPtr collection = engine_->parts().catalog->Find("test", "c");
  const uint32_t index = collection->indexes[1]->number;
  storage::WriteSet writes(store());
  {
    const auto cursor = store().NewCursor(storage::IndexRange(index), {});
    cursor->SeekToFirst();
    ASSERT_TRUE(cursor->Valid());
    writes.Delete(cursor->key());
  }
  ASSERT_OK(store().Commit(writes));
  const std::string damage = Damage(Verify());
  EXPECT_NE(damage.find("test.c"), std::string::npos) << damage;
  EXPECT_NE(damage.find("index by_a lacks the entry"), std::string::npos) << damage;
}

TEST_F(BackupCommandTest, KeysOfNothingAreNamed) {
  storage::WriteSet writes(store());
  writes.Put(storage::DocumentPrefix(7777, 0) + "x", "no document");
  writes.Put("?", "of no kind");
  writes.Put(storage::DatabaseKey("broken"), "no BSON");
  ASSERT_OK(store().Commit(writes));
  const std::string damage = Damage(Verify());
  EXPECT_NE(damage.find("7777"), std::string::npos) << damage;
  EXPECT_NE(damage.find("of no known kind"), std::string::npos) << damage;
  EXPECT_NE(damage.find("the record of a database"), std::string::npos) << damage;
}

}  // namespace
}  // namespace braid::commands
