#include "engine/commands/retry_notes.h"

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/storage/keys.h"

namespace braid::commands {
namespace {

class RetryNotesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = storage::Store::Open({.directory = directory_.path(), .cache_bytes = 16 << 20});
    ASSERT_OK(opened);
    store_ = *std::move(opened);
  }
  void Commit(RetryNotes& notes, int64_t number) {
    storage::WriteSet writes(*store_);
    notes.Store(writes, lsid_, number);
    ASSERT_OK(store_->Commit(writes));
  }
  size_t StoredKeys() {
    size_t keys = 0;
    const auto cursor = store_->NewCursor(storage::SessionRange(), {});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++keys;
    return keys;
  }
  static bson::Document Updated(int32_t modified) { return bson::Make("n", 1, "nModified", modified); }

  test::TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_;
  const std::string lsid_ = std::string(16, 'a');
};

TEST_F(RetryNotesTest, RunsOfEqualResultsAreOneKey) {
  RetryNotes notes;
  for (int32_t statement = 0; statement < 1000; ++statement) {
    notes.Add(statement, Updated(1));
    Commit(notes, 7);
  }
  EXPECT_EQ(StoredKeys(), 1u);
  notes.Add(1000, Updated(0));
  notes.Add(1001, Updated(1));
  notes.Add(1005, {});
  notes.Add(1006, {});
  Commit(notes, 7);
  EXPECT_EQ(StoredKeys(), 4u);

  RetryNotes loaded;
  ASSERT_OK(loaded.Load(*store_, lsid_, 7));
  for (const RetryNotes* known : {&notes, &loaded}) {
    for (const int32_t statement : {0, 500, 999, 1001}) {
      ASSERT_NE(known->Find(statement), nullptr) << statement;
      EXPECT_EQ(known->Find(statement)->bytes(), Updated(1).bytes()) << statement;
    }
    EXPECT_EQ(known->Find(1000)->bytes(), Updated(0).bytes());
    EXPECT_TRUE(known->Find(1006)->empty());
    EXPECT_EQ(known->Find(1002), nullptr);
    EXPECT_EQ(known->Find(1007), nullptr);
    EXPECT_EQ(known->Find(-1), nullptr);
  }
}

TEST_F(RetryNotesTest, AHigherNumberForgetsTheOlder) {
  RetryNotes notes;
  for (int32_t statement = 0; statement < 10; ++statement) notes.Add(2 * statement, {});
  Commit(notes, 1);
  EXPECT_EQ(StoredKeys(), 10u);
  notes.Forget(lsid_, 1);
  EXPECT_EQ(notes.Find(0), nullptr);
  notes.Add(0, Updated(1));
  Commit(notes, 2);
  EXPECT_EQ(StoredKeys(), 1u);
  RetryNotes loaded;
  ASSERT_OK(loaded.Load(*store_, lsid_, 1));
  EXPECT_TRUE(loaded.empty());
}

TEST_F(RetryNotesTest, AStatementBetweenRunsIsAddedToTheOneBefore) {
  RetryNotes notes;
  notes.Add(0, {});
  notes.Add(2, {});
  notes.Add(1, {});
  for (const int32_t statement : {0, 1, 2}) EXPECT_NE(notes.Find(statement), nullptr) << statement;
  EXPECT_EQ(notes.Find(3), nullptr);
  Commit(notes, 1);
  RetryNotes loaded;
  ASSERT_OK(loaded.Load(*store_, lsid_, 1));
  for (const int32_t statement : {0, 1, 2}) EXPECT_NE(loaded.Find(statement), nullptr) << statement;
}

}  // namespace
}  // namespace braid::commands
