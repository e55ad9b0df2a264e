#include "braid/embedded.h"

#include <thread>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "braid/transaction.h"
#include "client/command.h"
#include "client/fields.h"

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

}  // namespace
}  // namespace braid
