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
    bson::Builder record;
    notes.Store(writes, lsid_, number, record);
    writes.Put(storage::SessionKey(lsid_), record.Finish().bytes());
    ASSERT_OK(store_->Commit(writes));
  }
  /// `of` is the number of the stored record.
  Status Load(RetryNotes& notes, int64_t number, int64_t of) {
    storage::Buffer record;
    BRAID_TRY(const bool found, store_->Get(storage::SessionKey(lsid_), {}, &record));
    return notes.Load(*store_, lsid_, number, found && of == number ? bson::View(record.view()) : bson::View());
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
  ASSERT_OK(Load(loaded, 7, 7));
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
  ASSERT_OK(Load(loaded, 1, 2));
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
  ASSERT_OK(Load(loaded, 1, 1));
  for (const int32_t statement : {0, 1, 2}) EXPECT_NE(loaded.Find(statement), nullptr) << statement;
}

TEST_F(RetryNotesTest, OneStatementNeedsNoKeyButTheSessions) {
  RetryNotes notes;
  for (int64_t number = 1; number <= 3; ++number) {
    notes.Forget(lsid_, number - 1);
    notes.Add(0, Updated(1));
    Commit(notes, number);
    EXPECT_EQ(StoredKeys(), 1u);
  }
  RetryNotes loaded;
  ASSERT_OK(Load(loaded, 3, 3));
  ASSERT_NE(loaded.Find(0), nullptr);
  EXPECT_EQ(loaded.Find(0)->bytes(), Updated(1).bytes());
  // What was loaded can be added to, and forgotten.
  loaded.Add(1, Updated(1));
  loaded.Add(2, Updated(0));
  Commit(loaded, 3);
  EXPECT_EQ(StoredKeys(), 2u);
  ASSERT_OK(Load(notes, 3, 3));
  for (const int32_t statement : {0, 1, 2}) EXPECT_NE(notes.Find(statement), nullptr) << statement;
  notes.Forget(lsid_, 3);
  notes.Add(0, {});
  Commit(notes, 4);
  EXPECT_EQ(StoredKeys(), 1u);
}

TEST_F(RetryNotesTest, ALargeResultHasAKeyOfItsOwn) {
  RetryNotes notes;
  const bson::Document large = bson::Make("value", std::string(1000, 'x'));
  notes.Add(0, large);
  Commit(notes, 1);
  EXPECT_EQ(StoredKeys(), 2u);
  RetryNotes loaded;
  ASSERT_OK(Load(loaded, 1, 1));
  ASSERT_NE(loaded.Find(0), nullptr);
  EXPECT_EQ(loaded.Find(0)->bytes(), large.bytes());
  loaded.Forget(lsid_, 1);
  loaded.Add(0, {});
  Commit(loaded, 2);
  EXPECT_EQ(StoredKeys(), 1u);
}

}  // namespace
}  // namespace braid::commands
