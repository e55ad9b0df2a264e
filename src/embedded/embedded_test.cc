#include "braid/embedded.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "braid/transaction.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid {
namespace {

using client::Bson;
using client::CollectionOf;
using client::IntegerOf;

class EmbeddedTest : public ::testing::Test {
 protected:
  void Open() {
    embedded_.reset();
    auto opened = Embedded::Open({.directory = directory_.path().string(), .cache_bytes = 32 << 20});
    ASSERT_OK(opened);
    embedded_ = *std::move(opened);
  }
  void SetUp() override { Open(); }

  static int64_t Count(Clients& clients, const std::string& collection) {
    const Client client = clients.Acquire();
    const Bson all;
    bson_error_t error{};
    return mongoc_collection_count_documents(CollectionOf(client.get(), "test", collection).get(), all.get(), nullptr,
                                             nullptr, nullptr, &error);
  }
  static Status Insert(Clients& clients, const std::string& collection, int64_t id) {
    const Client client = clients.Acquire();
    Bson document;
    document.Integer("_id", id);
    bson_error_t error{};
    return mongoc_collection_insert_one(CollectionOf(client.get(), "test", collection).get(), document.get(), nullptr,
                                        nullptr, &error)
               ? Status()
               : client::FromError(error);
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Embedded> embedded_;
};

TEST_F(EmbeddedTest, KeepsWhatWasWritten) {
  ASSERT_OK(Insert(*embedded_, "things", 1));
  EXPECT_EQ(Insert(*embedded_, "things", 1).code(), Code::kDuplicateKey);
  EXPECT_EQ(Count(*embedded_, "things"), 1);
  Open();
  EXPECT_EQ(Count(*embedded_, "things"), 1);
}

TEST_F(EmbeddedTest, OneProcessAtATime) {
  const auto second = Embedded::Open({.directory = directory_.path().string()});
  EXPECT_EQ(second.status().code(), Code::kFileAlreadyOpen);
  EXPECT_EQ(Embedded::Open({}).status().code(), Code::kBadValue);
  EXPECT_EQ(Embedded::Open({.directory = "x", .shards = 0}).status().code(), Code::kBadValue);
}

TEST_F(EmbeddedTest, ManyClientsOnManyThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) EXPECT_OK(Insert(*embedded_, "things", thread * 1000 + i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Count(*embedded_, "things"), 400);
}

TEST_F(EmbeddedTest, ServedOverTcpAtTheSameTime) {
  const auto address = embedded_->Listen({});
  ASSERT_OK(address);
  EXPECT_EQ(embedded_->Listen({}).status().code(), Code::kAlreadyInitialized);
  const auto remote = Clients::Connect(StrCat("mongodb://", *address));
  ASSERT_OK(remote);
  ASSERT_OK(Insert(*embedded_, "things", 1));
  ASSERT_OK(Insert(**remote, "things", 2));
  EXPECT_EQ(Count(*embedded_, "things"), 2);
  EXPECT_EQ(Count(**remote, "things"), 2);
}

TEST_F(EmbeddedTest, DocumentsGoInAndComeBack) {
  const Document lamp{{"_id", "lamp"}, {"qty", 3}, {"tags", Array{"light", "new"}}};
  const std::vector<Document> others = {{{"_id", "chair"}, {"qty", 1}}, {{"_id", "table"}, {"qty", 5}}};
  ASSERT_OK(RunTransaction(*embedded_, {.database = "test"}, [&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(transaction.Insert("things", lamp));
    BRAID_CHECK_OK(transaction.Insert("things", others));
    const Transaction::Update sold{.filter = {{"_id", "chair"}}, .change = {{"$inc", {{"qty", -1}}}}};
    BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOne("things", sold));
    EXPECT_EQ(matched.modified, 1);
    BRAID_TRY(const std::optional<Document> found, transaction.FindOne("things", {{"_id", "lamp"}}));
    EXPECT_EQ(found, lamp);
    BRAID_TRY(const std::optional<Document> missing, transaction.FindOne("things", {{"_id", "sofa"}}));
    EXPECT_FALSE(missing);
    BRAID_TRY(const int64_t many, transaction.Count("things", {{"qty", {{"$gt", 1}}}}));
    EXPECT_EQ(many, 2);
    std::vector<Document> kept;  // copies of what lives for the call
    const Transaction::FindOptions how{.sort = {{"qty", -1}}, .projection = {{"qty", 1}}, .limit = 2};
    BRAID_CHECK_OK(transaction.Find("things", {}, how, [&](const Document& document) {
      kept.push_back(document);
      return Status();
    }));
    EXPECT_EQ(kept, std::vector<Document>({{{"_id", "table"}, {"qty", 5}}, {{"_id", "lamp"}, {"qty", 3}}}));
    return transaction.Remove("things", {{"_id", "table"}});
  }));
  EXPECT_EQ(Count(*embedded_, "things"), 2);
  const auto reply = embedded_->Acquire().Command("test", {{"count", "things"}, {"query", {{"qty", 3}}}});
  ASSERT_OK(reply);
  EXPECT_EQ(*reply->Get<int64_t>("n"), 1);
  EXPECT_EQ(embedded_->Acquire().Command("test", {{"noSuchCommand", 1}}).status().code(), Code::kCommandNotFound);
}

TEST_F(EmbeddedTest, CloseWaitsForNobodyAndGivesTheDirectoryBack) {
  ASSERT_OK(embedded_->Listen({}));
  {
    const Client client = embedded_->Acquire();
    const Status refused = embedded_->Close();
    EXPECT_EQ(refused.code(), Code::kConflictingOperationInProgress);
    EXPECT_NE(refused.message().find("1 of its clients"), std::string_view::npos) << refused.message();
  }
  ASSERT_OK(Insert(*embedded_, "things", 1));
  ASSERT_OK(embedded_->Close());
  EXPECT_OK(embedded_->Close());
  const auto again = Embedded::Open({.directory = directory_.path().string()});
  ASSERT_OK(again);
  EXPECT_EQ(Count(**again, "things"), 1);
}

TEST_F(EmbeddedTest, LargeMessagesBothWays) {
  const Client client = embedded_->Acquire();
  const auto collection = CollectionOf(client.get(), "test", "large");
  const std::string text(15 << 20, 'x');
  for (int i = 0; i < 3; ++i) {
    Bson document;
    document.Integer("_id", i).Text("text", text);
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_insert_one(collection.get(), document.get(), nullptr, nullptr, &error))
        << error.message;
  }
  const Bson all;
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), all.get(), nullptr, nullptr));
  const bson_t* found = nullptr;
  int64_t number = 0;
  while (mongoc_cursor_next(cursor.get(), &found)) {
    EXPECT_EQ(IntegerOf(found, "_id"), number++);
    EXPECT_EQ(client::TextOf(found, "text").size(), text.size());
  }
  EXPECT_EQ(number, 3);
}

TEST_F(EmbeddedTest, TransactionsUnderContentionConverge) {
  ASSERT_OK(Insert(*embedded_, "sums", 1));
  std::atomic<uint64_t> retries = 0;
  const auto increment = [](Transaction& transaction) -> Status {
    Bson filter;
    filter.Integer("_id", 1);
    Bson by;
    by.Integer("n", 1);
    Bson change;
    change.Document("$inc", by);
    const Transaction::Update update{.filter = filter.get(), .change = change.get()};
    return transaction.UpdateOnes("sums", {&update, 1}).status();
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        EXPECT_OK(RunTransaction(*embedded_, {.database = "test", .retries = &retries}, increment));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Bson all;
  int64_t sum = 0;
  ASSERT_OK(RunTransaction(*embedded_, {.database = "test"}, [&](Transaction& transaction) {
    return transaction.Find("sums", all.get(), [&](const bson_t& document) {
      sum = IntegerOf(&document, "n");
      return Status();
    });
  }));
  EXPECT_EQ(sum, 100);
}

TEST_F(EmbeddedTest, AFailedBodyChangesNothingAndIsNotRepeated) {
  int runs = 0;
  Bson one;
  one.Integer("_id", 1);
  const bson_t* documents[] = {one.get()};
  const auto body = [&](Transaction& transaction) -> Status {
    ++runs;
    BRAID_CHECK_OK(transaction.Insert("things", documents));
    return Status(Code::kBadValue, "on second thoughts");
  };
  const Status status = RunTransaction(*embedded_, {.database = "test"}, body);
  EXPECT_EQ(status.message(), "on second thoughts");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Count(*embedded_, "things"), 0);
}

TEST_F(EmbeddedTest, TheErrorOfACommandIsTheErrorOfTheTransaction) {
  ASSERT_OK(Insert(*embedded_, "things", 1));
  Bson one;
  one.Integer("_id", 1);
  const bson_t* documents[] = {one.get()};
  const Status status = RunTransaction(*embedded_, {.database = "test"}, [&](Transaction& transaction) {
    return transaction.Insert("things", documents);
  });
  EXPECT_EQ(status.code(), Code::kDuplicateKey);
}

TEST(OpenStoreTest, TellsDirectoriesFromServers) {
  EXPECT_TRUE(IsUri("mongodb://127.0.0.1:1"));
  EXPECT_TRUE(IsUri("mongodb+srv://cluster.example"));
  EXPECT_FALSE(IsUri("./mongodb"));
  const test::TemporaryDirectory directory;
  ASSERT_OK(OpenStore(directory.path().string()));
  EXPECT_FALSE(OpenStore("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=50").ok());
  EXPECT_EQ(OpenStore("mongodb://").status().code(), Code::kBadValue);
}

// What reads must not make the store that it was told to read.
TEST_F(EmbeddedTest, AStoreIsCreatedOnlyWhereThatIsAskedFor) {
  const std::filesystem::path other = directory_.path() / "other";
  for (const StoreUse use : {StoreUse::kRead, StoreUse::kExisting}) {
    const auto missing = OpenStore(other.string(), use);
    EXPECT_EQ(missing.status().code(), Code::kNamespaceNotFound);
    EXPECT_NE(missing.status().message().find("there is no directory"), std::string_view::npos);
    EXPECT_FALSE(std::filesystem::exists(other));
  }
  std::filesystem::create_directory(other);
  const auto empty = OpenStore(other.string(), StoreUse::kRead);
  EXPECT_NE(empty.status().message().find("holds no store"), std::string_view::npos) << empty.status().message();
  EXPECT_TRUE(std::filesystem::is_empty(other));
  {
    const auto created = OpenStore(other.string(), StoreUse::kCreate);
    ASSERT_OK(created);
    ASSERT_OK(Insert(**created, "things", 1));
  }
  for (const StoreUse use : {StoreUse::kRead, StoreUse::kExisting}) {
    const auto opened = OpenStore(other.string(), use);
    ASSERT_OK(opened);
    EXPECT_EQ(Count(**opened, "things"), 1);
  }
  // A store that has lost a file is no empty directory: opening it names the damage.
  std::filesystem::remove(other / "CURRENT");
  EXPECT_NE(OpenStore(other.string(), StoreUse::kExisting).status().code(), Code::kNamespaceNotFound);
}

// What a killed process left, and then lost: refused, unless the loss is accepted.
TEST_F(EmbeddedTest, AcceptLoss) {
  ASSERT_OK(Insert(*embedded_, "things", 1));
  const test::TemporaryDirectory other;
  const std::filesystem::path killed = other.path() / "killed";
  std::filesystem::copy(directory_.path(), killed);
  std::vector<std::filesystem::path> logs;
  for (const auto& file : std::filesystem::directory_iterator(killed)) {
    if (file.path().extension() == ".log") logs.push_back(file.path());
  }
  for (const auto& log : logs) std::filesystem::resize_file(log, 0);
  EXPECT_EQ(Embedded::Open({.directory = killed.string()}).status().code(), Code::kStorageCorrupt);
  EXPECT_EQ(OpenStore(killed.string()).status().code(), Code::kStorageCorrupt);
  ASSERT_OK(Embedded::Open({.directory = killed.string(), .accept_loss = true}));
  const auto opened = OpenStore(killed.string());
  ASSERT_OK(opened);
  EXPECT_EQ(Count(**opened, "things"), 0);
}

TEST_F(EmbeddedTest, AStoreOfAnUnknownScheme) {
  for (const char* store : {"http://x", "mongo://127.0.0.1", "MONGODB://127.0.0.1", "postgres+ssl://x/y"}) {
    EXPECT_EQ(OpenStore(store).status().code(), Code::kBadValue) << store;
    EXPECT_FALSE(std::filesystem::exists(std::string(store).substr(0, std::string(store).find('/')))) << store;
  }
  for (const char* store : {"mongodb://127.0.0.1", "mongodb+srv://x", "./http://x", "data", "/a b://c"}) {
    EXPECT_OK(CheckStoreName(store));
  }
}

// A store that somebody else has open is read as of one moment; what is done there stays there.
TEST_F(EmbeddedTest, APrivateViewBesideAWriter) {
  for (int i = 0; i < 100; ++i) ASSERT_OK(Insert(*embedded_, "things", i));
  const auto view = OpenStore(directory_.path().string(), StoreUse::kRead);
  ASSERT_OK(view);
  EXPECT_EQ(Count(**view, "things"), 100);
  ASSERT_OK(Insert(*embedded_, "things", 100));
  ASSERT_OK(Insert(**view, "things", 200));
  EXPECT_EQ(Count(**view, "things"), 101);
  EXPECT_EQ(Count(*embedded_, "things"), 101);
  const auto writing = OpenStore(directory_.path().string(), StoreUse::kExisting);
  EXPECT_EQ(writing.status().code(), Code::kFileAlreadyOpen);
  EXPECT_NE(writing.status().message().find(StrCat("in use by another process (pid ", getpid(), ")")),
            std::string_view::npos)
      << writing.status().message();
  Open();
  EXPECT_EQ(Count(*embedded_, "things"), 101);
}

TEST_F(EmbeddedTest, APrivateViewLeavesTheDirectoryAsItIs) {
  for (int i = 0; i < 100; ++i) ASSERT_OK(Insert(*embedded_, "things", i));
  embedded_.reset();
  const auto files = [&] {
    std::map<std::string, std::filesystem::file_time_type> times;
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      times.emplace(file.path().filename().string(), file.last_write_time());
    }
    return times;
  };
  const auto before = files();
  {
    const auto view = Embedded::Open({.directory = directory_.path().string(), .private_view = true});
    ASSERT_OK(view);
    EXPECT_EQ(Count(**view, "things"), 100);
    ASSERT_OK(Insert(**view, "things", 200));
  }
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace braid
