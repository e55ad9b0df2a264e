// Records: rules of writes, and that indexes always say what the documents say.
#include "engine/txn/records.h"

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/txn/insert_batch.h"
#include "engine/txn/testing_fixture.h"

namespace braid::txn {
namespace {

using bson::J;

class RecordsTest : public TxnTest {};

bson::Document RandomDocument(Random& random, int32_t id) {
  bson::Builder out;
  out.Append("_id", id);
  if (random.Chance(3, 4)) out.Append("a", static_cast<int32_t>(random.Below(5)));
  if (random.Chance(1, 2)) {
    out.OpenArray("b");
    for (uint64_t i = random.Below(4); i > 0; --i) out.AppendNext(static_cast<int32_t>(random.Below(5)));
    out.Close();
  } else {
    out.Append("b", static_cast<double>(random.Below(5)));
  }
  if (random.Chance(1, 2)) out.Append("c", StrCat("x", random.Below(3)));
  if (random.Chance(1, 2)) out.Append("u", static_cast<int32_t>(random.Below(40)));
  return out.Finish();
}

const std::vector<std::string> kIndexes = {
    "{'key': {'a': 1}, 'name': 'a'}",
    "{'key': {'b': -1, 'a': 1}, 'name': 'ba'}",
    "{'key': {'a': 'hashed'}, 'name': 'h'}",
    "{'key': {'c': 1}, 'name': 'c', 'sparse': true, 'collation': {'locale': 'en', 'strength': 2}}",
    "{'key': {'a': 1, 'c': 1}, 'name': 'p', 'partialFilterExpression': {'a': {'$gt': 2}}}",
    "{'key': {'u': 1}, 'name': 'u', 'unique': true, 'sparse': true}",
};

TEST_F(RecordsTest, DuplicatesAreNamed) {
  Create();
  ASSERT_OK(Build({"{'key': {'a': 1, 'b': -1}, 'name': 'a_1', 'unique': true}"}));
  ASSERT_OK(Insert("{'_id': 1, 'a': 1}"));
  const Status id = Insert("{'_id': 1.0, 'a': 2}");
  EXPECT_EQ(id.code(), Code::kDuplicateKey);
  EXPECT_EQ(id.message(), "E11000 duplicate key error collection: db.c index: _id_ dup key: { _id: 1.0 }");
  const Status unique = Insert("{'_id': 2, 'a': 1}");
  EXPECT_EQ(unique.message(), "E11000 duplicate key error collection: db.c index: a_1 dup key: { a: 1, b: null }");
  EXPECT_EQ(bson::ToShell(bson::View(unique.details())),
            "{ keyPattern: { a: 1, b: -1 }, keyValue: { a: 1, b: null } }");
  ASSERT_OK(Insert("{'_id': 2, 'a': 2}"));
  EXPECT_EQ(Replace(J("{'_id': 2, 'a': 1}")).code(), Code::kDuplicateKey);
  ASSERT_OK(Replace(J("{'_id': 1, 'a': 3}")));
  ASSERT_OK(Replace(J("{'_id': 2, 'a': 1}")));
  EXPECT_OK(Check());
  EXPECT_EQ(Find()->state->documents, 2);
}

TEST_F(RecordsTest, FailedInsertLeavesNothingInTheWriteSet) {
  Create();
  ASSERT_OK(Build({"{'key': {'a': 1}, 'name': 'a'}", "{'key': {'u': 1}, 'name': 'u', 'unique': true}"}));
  ASSERT_OK(Statement([&](Context& context, const auto& collection) -> Status {
    BRAID_CHECK_OK(txn::Insert(context, collection, J("{'_id': 1, 'a': [1, 2], 'u': 1}")));
    const size_t bytes = context.writes().bytes();
    EXPECT_EQ(txn::Insert(context, collection, J("{'_id': 2, 'a': [1, 2], 'u': 1}")).code(), Code::kDuplicateKey);
    EXPECT_EQ(txn::Insert(context, collection, J("{'_id': 1}")).code(), Code::kDuplicateKey);
    EXPECT_EQ(context.writes().bytes(), bytes);
    return txn::Insert(context, collection, J("{'_id': 3, 'a': 7, 'u': 2}"));
  }));
  EXPECT_OK(Check());
  EXPECT_EQ(Find()->state->documents, 2);
}

TEST_F(RecordsTest, CollationOfTheCollectionGovernsIds) {
  Create("{'collation': {'locale': 'en', 'strength': 2}}");
  ASSERT_OK(Insert("{'_id': 'A'}"));
  EXPECT_EQ(Insert("{'_id': 'a'}").code(), Code::kDuplicateKey);
  ASSERT_OK(Remove(J("{'_id': 'a'}").Find("_id")));
  EXPECT_EQ(Find()->state->documents, 0);
}

TEST_F(RecordsTest, ValidatorsStrictModerateWarn) {
  Create("{'validator': {'a': {'$type': 'int'}}}");
  const Status failed = Insert("{'_id': 1, 'a': 'x'}");
  EXPECT_EQ(failed.code(), Code::kDocumentValidationFailure);
  EXPECT_EQ(bson::View(failed.details()).Find("errInfo").AsView().Find("failingDocumentId").AsInt32(), 1);
  ASSERT_OK(Statement([](Context& context, const auto& collection) {
    return txn::Insert(context, collection, J("{'_id': 1, 'a': 'x'}"), {.bypass_validation = true});
  }));
  EXPECT_EQ(Replace(J("{'_id': 1, 'a': 'y'}")).code(), Code::kDocumentValidationFailure);
  const auto set = [this](catalog::ValidationLevel level, catalog::ValidationAction action) {
    ASSERT_OK(catalog_->Modify(ns_, [&](catalog::Collection* collection) -> Status {
      collection->validation_level = level;
      collection->validation_action = action;
      return {};
    }));
  };
  set(catalog::ValidationLevel::kModerate, catalog::ValidationAction::kError);
  EXPECT_OK(Replace(J("{'_id': 1, 'a': 'y'}")));  // it was not valid before
  EXPECT_EQ(Insert("{'_id': 2, 'a': 'x'}").code(), Code::kDocumentValidationFailure);
  set(catalog::ValidationLevel::kStrict, catalog::ValidationAction::kWarn);
  EXPECT_OK(Insert("{'_id': 2, 'a': 'x'}"));
  set(catalog::ValidationLevel::kOff, catalog::ValidationAction::kError);
  EXPECT_OK(Insert("{'_id': 3, 'a': 'x'}"));
}

TEST_F(RecordsTest, ExpiredDocumentsDoNotStandInTheWay) {
  Create();
  ASSERT_OK(Build(
      {"{'key': {'t': 1}, 'name': 't', 'expireAfterSeconds': 10}", "{'key': {'u': 1}, 'name': 'u', 'unique': true}"}));
  const bson::Document first = bson::Make("_id", 1, "u", 1, "t", bson::Date{clock_.NowMillis()});
  ASSERT_OK(Insert(first.view()));
  EXPECT_EQ(Insert("{'_id': 1, 'u': 5}").code(), Code::kDuplicateKey);
  EXPECT_EQ(Insert("{'_id': 2, 'u': 1}").code(), Code::kDuplicateKey);
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_OK(Insert("{'_id': 2, 'u': 1}"));
  EXPECT_EQ(Find()->state->documents, 1);
  EXPECT_OK(Insert("{'_id': 1, 'u': 5}"));
  EXPECT_OK(Check());
}

TEST_F(RecordsTest, MultikeyBitsSurviveReopening) {
  Create();
  ASSERT_OK(Build({"{'key': {'a': 1, 'b': 1}, 'name': 'ab'}"}));
  ASSERT_OK(Insert("{'_id': 1, 'a': 1, 'b': 2}"));
  EXPECT_FALSE(Find()->indexes[1]->is_multikey());
  ASSERT_OK(Insert("{'_id': 2, 'a': 1, 'b': [2]}"));
  EXPECT_EQ(Find()->indexes[1]->multikey, 2u);
  ASSERT_OK(Replace(J("{'_id': 1, 'a': [1], 'b': 2}")));
  EXPECT_EQ(Find()->indexes[1]->multikey, 3u);
  Open();
  EXPECT_EQ(Find()->indexes[1]->multikey, 3u);
  EXPECT_OK(Check());
}

// An aborted write may leave the bit in memory, but the next one that commits must store it.
TEST_F(RecordsTest, MultikeyBitOfAnAbortedWriteIsStoredByTheNext) {
  Create();
  ASSERT_OK(Build({"{'key': {'a': 1}, 'name': 'a'}"}));
  {
    Operations::Handle operation = operations_.Start();
    Context context(*shared_, *operation);
    ASSERT_OK(txn::Insert(context, Find(), J("{'_id': 1, 'a': [1]}")));
  }
  ASSERT_OK(Insert("{'_id': 1, 'a': [1]}"));
  Open();
  EXPECT_TRUE(Find()->indexes[1]->is_multikey());
}

// After any inserts, replacements and removals every index has exactly the entries of the documents.
TEST_F(RecordsTest, IndexesAreTheDocuments) {
  Random random(test::Seed());
  Create();
  ASSERT_OK(Build(kIndexes));
  int applied = 0;
  for (int step = 0; step < 1500; ++step) {
    const auto id = static_cast<int32_t>(random.Below(60));
    const bson::Document document = RandomDocument(random, id);
    Status status;
    switch (random.Below(4)) {
      case 0:
      case 1: status = Insert(document.view()); break;
      case 2: status = Replace(document); break;
      default: status = Remove(document.Find("_id"));
    }
    applied += status.ok() ? 1 : 0;
    ASSERT_TRUE(status.ok() || status.code() == Code::kDuplicateKey || status.code() == Code::kNamespaceNotFound)
        << status.ToString();
    if (step % 300 == 0) ASSERT_OK(Check());
  }
  EXPECT_GT(applied, 200);
  ASSERT_OK(Check());
  Open();
  ASSERT_OK(Check());
}

// Several statements in one write set, rolled together: reads through it see the earlier ones.
TEST_F(RecordsTest, ManyWritesInOneCommit) {
  Random random(test::Seed());
  Create();
  ASSERT_OK(Build(kIndexes));
  for (int round = 0; round < 20; ++round) {
    ASSERT_OK(Statement([&](Context& context, const auto& collection) -> Status {
      for (int step = 0; step < 60; ++step) {
        const bson::Document document = RandomDocument(random, static_cast<int32_t>(random.Below(30)));
        storage::Buffer before;
        BRAID_TRY(const auto found, ReadForChange(context, *collection, document.Find("_id"), &before));
        Status status;
        if (!found) {
          status = txn::Insert(context, collection, document);
        } else if (random.Chance(1, 2)) {
          status = txn::Replace(context, collection, *found, bson::View(before.view()), document);
        } else {
          status = txn::Remove(context, collection, *found, bson::View(before.view()));
        }
        if (!status.ok() && status.code() != Code::kDuplicateKey) return status;
      }
      return {};
    }));
    ASSERT_OK(Check());
  }
}

TEST_F(RecordsTest, WritersOnTheSameKeys) {
  const uint64_t seed = test::Seed();
  Create();
  ASSERT_OK(Build(kIndexes));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, seed, t] {
      Random random(seed + t);
      for (int i = 0; i < 60; ++i) {
        const Status status = Statement([&](Context& context, const auto& collection) -> Status {
          for (int step = 0; step < 5; ++step) {
            const bson::Document document = RandomDocument(random, static_cast<int32_t>(random.Below(20)));
            storage::Buffer before;
            BRAID_TRY(const auto found, ReadForChange(context, *collection, document.Find("_id"), &before));
            const Status written = found
                                       ? txn::Replace(context, collection, *found, bson::View(before.view()), document)
                                       : txn::Insert(context, collection, document);
            if (!written.ok() && written.code() != Code::kDuplicateKey) return written;
          }
          return {};
        });
        EXPECT_OK(status);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_OK(Check());
}

// Every thread adds one to the same document: nothing is lost.
TEST_F(RecordsTest, IncrementsAreNotLost) {
  Create();
  ASSERT_OK(Insert("{'_id': 1, 'n': 0}"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_OK(Statement([](Context& context, const auto& collection) -> Status {
          storage::Buffer before;
          const bson::Document id = J("{'_id': 1}");
          BRAID_CHECK_OK(ReadForChange(context, *collection, id.Find("_id"), &before));
          const bson::View old(before.view());
          return txn::Replace(context, collection, 0, old, bson::Make("_id", 1, "n", old.Find("n").AsInt32() + 1));
        }));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  storage::Buffer buffer;
  ASSERT_TRUE(*store_->Get(DocumentKey(*Find(), 0, J("{'_id': 1}").Find("_id")), {}, &buffer));
  EXPECT_EQ(bson::View(buffer.view()).Find("n").AsInt32(), 400);
}

TEST_F(RecordsTest, TransactionsMeetConflictsAtOnce) {
  Create();
  ASSERT_OK(Insert("{'_id': 1, 'n': 0}"));
  const bson::OwnedValue id(J("{'_id': 1}").Find("_id"));
  Operations::Handle operation = operations_.Start();
  storage::Buffer before;
  {
    Context transaction(*shared_, *operation, Context::Kind::kTransaction);
    transaction.FixSnapshot();
    ASSERT_TRUE(*ReadForChange(transaction, *Find(), id, &before));
    Context other(*shared_, *operation);
    EXPECT_EQ(ReadForChange(other, *Find(), id, &before).status().code(), Code::kWriteConflict);
  }
  {
    Context transaction(*shared_, *operation, Context::Kind::kTransaction);
    transaction.FixSnapshot();
    ASSERT_OK(Replace(J("{'_id': 1, 'n': 1}")));
    EXPECT_EQ(ReadForChange(transaction, *Find(), id, &before).status().code(), Code::kWriteConflict);
  }
  ASSERT_OK(Check());
}

TEST_F(RecordsTest, WhatATransactionHasReadIsNewestUntilItChangesIt) {
  Create();
  ASSERT_OK(Insert("{'_id': 1, 'n': 0}"));
  const bson::OwnedValue id(J("{'_id': 1}").Find("_id"));
  const std::string id_key = IdKey(id);
  Operations::Handle operation = operations_.Start();
  {
    Context statement(*shared_, *operation);
    EXPECT_FALSE(*LockNewest(statement, *Find(), id_key, 0));  // somebody may have changed it since it was read
  }
  {
    Context transaction(*shared_, *operation, Context::Kind::kTransaction);
    transaction.FixSnapshot();
    EXPECT_TRUE(*LockNewest(transaction, *Find(), id_key, 0));
    storage::Buffer before;
    ASSERT_TRUE(*ReadForChange(transaction, *Find(), id, &before));
    ASSERT_OK(txn::Replace(transaction, Find(), 0, bson::View(before.view()), J("{'_id': 1, 'n': 1}")));
    EXPECT_FALSE(*LockNewest(transaction, *Find(), id_key, 0));
  }
  {
    Context transaction(*shared_, *operation, Context::Kind::kTransaction);
    transaction.FixSnapshot();
    ASSERT_OK(Replace(J("{'_id': 1, 'n': 2}")));
    EXPECT_EQ(LockNewest(transaction, *Find(), id_key, 0).status().code(), Code::kWriteConflict);
  }
}

// Ids in and out of order, stored before and within the transaction, dense and sparse: the same as one by one.
TEST_F(RecordsTest, ABatchInsertsWhatIsNotThere) {
  Random random(test::Seed());
  Create();
  ASSERT_OK(Build({"{'key': {'a': 1, 'b': -1}, 'name': 'ab'}", "{'key': {'c': 1}, 'name': 'c'}"}));
  std::set<int32_t> stored;
  Operations::Handle operation = operations_.Start();
  for (int round = 0; round < 60; ++round) {
    const int32_t ids = round % 3 == 0 ? 100'000 : round % 3 == 1 ? 3000 : 300;
    std::vector<int32_t> wanted;
    for (int i = 0; i < 100; ++i) wanted.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(ids))));
    if (random.Chance(3, 4)) std::sort(wanted.begin(), wanted.end());
    Context transaction(*shared_, *operation, Context::Kind::kTransaction);
    transaction.FixSnapshot();
    InsertBatch batch(transaction);
    for (const int32_t id : wanted) {
      const Status status = txn::Insert(batch, transaction, Find(), RandomDocument(random, id), {});
      ASSERT_EQ(status.code(), stored.insert(id).second ? Code::kOk : Code::kDuplicateKey) << id;
    }
    ASSERT_OK(transaction.NoteWriter(Find()));
    ASSERT_OK(transaction.Commit());
  }
  EXPECT_OK(Check());
  EXPECT_EQ(Find()->state->documents, static_cast<int64_t>(stored.size()));
}

TEST_F(RecordsTest, ABatchConflictsWithWhatCameAfterItsSnapshot) {
  Create();
  Operations::Handle operation = operations_.Start();
  Context transaction(*shared_, *operation, Context::Kind::kTransaction);
  transaction.FixSnapshot();
  InsertBatch batch(transaction);
  ASSERT_OK(txn::Insert(batch, transaction, Find(), J("{'_id': 1}"), {}));  // has looked for what follows
  ASSERT_OK(Insert("{'_id': 2}"));
  EXPECT_EQ(txn::Insert(batch, transaction, Find(), J("{'_id': 2}"), {}).code(), Code::kWriteConflict);
  ASSERT_OK(txn::Insert(batch, transaction, Find(), J("{'_id': 3}"), {}));
}

TEST_F(RecordsTest, ValidationFindsLies) {
  Create();
  ASSERT_OK(Build({"{'key': {'a': 1}, 'name': 'a'}"}));
  ASSERT_OK(Insert("{'_id': 1, 'a': 5}"));
  ASSERT_OK(Check());
  const auto& index = *Find()->indexes[1];
  const auto lie = [&](const std::function<void(storage::WriteSet&)>& change, std::string_view expected) {
    storage::WriteSet writes(*store_);
    change(writes);
    ASSERT_OK(store_->Commit(writes));
    const Status status = Check();
    EXPECT_NE(status.message().find(expected), std::string_view::npos) << status.ToString();
  };
  const std::string ghost = EntryKey(index, 0, "x", IdKey(J("{'_id': 9}").Find("_id")));
  lie([&](auto& writes) { writes.Put(ghost, EntryValue(index, J("{'0': 1}"), IdKey(J("{'_id': 9}").Find("_id")))); },
      "without a document");
  lie(
      [&](auto& writes) {
        writes.Delete(ghost);
        writes.Add(storage::CountKey(Find()->number, 0), 1);
      },
      "counters");
  std::string entry;
  auto cursor = store_->NewCursor(storage::IndexRange(index.number), {});
  cursor->SeekToFirst();
  entry = cursor->key();
  lie([&](auto& writes) { writes.Delete(entry); }, "lacks the entry");
}

}  // namespace
}  // namespace braid::txn
