// Index builds, with writers at work, and TTL.
#include "engine/txn/index_build.h"

#include <thread>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/txn/testing_fixture.h"
#include "engine/txn/ttl.h"

namespace braid::txn {
namespace {

using bson::J;

class IndexBuildTest : public TxnTest {
 protected:
  void Fill(int32_t count) {
    ASSERT_OK(Statement([count](Context& context, const auto& collection) -> Status {
      for (int32_t i = 0; i < count; ++i) {
        BRAID_CHECK_OK(txn::Insert(context, collection, bson::Make("_id", i, "a", i % 7, "u", i)));
      }
      return {};
    }));
  }
};

TEST_F(IndexBuildTest, BuildsSeveralInOneScan) {
  Create();
  Fill(1300);
  const auto built = Build({"{'key': {'a': 1}, 'name': 'a'}", "{'key': {'u': -1}, 'name': 'u', 'unique': true}"});
  ASSERT_OK(built);
  EXPECT_EQ(built->indexes_before, 1u);
  EXPECT_EQ(built->indexes_after, 3u);
  EXPECT_FALSE(built->created_collection);
  for (const auto& index : Find()->indexes) EXPECT_FALSE(index->building);
  EXPECT_EQ(KeysIn(storage::IndexRange(Find()->indexes[2]->number)), 1300u);
  ASSERT_OK(Check());
  const auto again = Build({"{'key': {'a': 1}, 'name': 'a'}"});
  ASSERT_OK(again);
  EXPECT_EQ(again->indexes_before, again->indexes_after);
  EXPECT_EQ(Build({"{'key': {'b': 1}, 'name': 'a'}"}).status().code(), Code::kIndexKeySpecsConflict);
  EXPECT_EQ(Build({"{'key': {'a': 1}, 'name': 'b'}"}).status().code(), Code::kIndexOptionsConflict);
}

TEST_F(IndexBuildTest, CreatesTheCollection) {
  const auto built = Build({"{'key': {'a': 1}, 'name': 'a'}", "{'key': {'a': 1}, 'name': 'a'}"});
  ASSERT_OK(built);
  EXPECT_TRUE(built->created_collection);
  EXPECT_EQ(built->indexes_after, 2u);
}

TEST_F(IndexBuildTest, DuplicatesLeaveNothing) {
  Create();
  Fill(1000);
  const size_t before = KeysIn({"", ""});
  const auto built = Build({"{'key': {'u': 1}, 'name': 'u'}", "{'key': {'a': 1}, 'name': 'a', 'unique': true}"});
  EXPECT_EQ(built.status().code(), Code::kDuplicateKey);
  EXPECT_EQ(built.status().message(), "E11000 duplicate key error collection: db.c index: a dup key: { a: 0 }");
  EXPECT_EQ(Find()->indexes.size(), 1u);
  EXPECT_EQ(KeysIn({"", ""}), before);
  ASSERT_OK(Insert("{'_id': 5000, 'a': 1}"));
  ASSERT_OK(Check());
}

TEST_F(IndexBuildTest, ParallelArraysFailTheBuild) {
  Create();
  ASSERT_OK(Insert("{'_id': 1, 'a': [1], 'b': [2]}"));
  EXPECT_EQ(Build({"{'key': {'a': 1, 'b': 1}, 'name': 'ab'}"}).status().code(), Code::kCannotIndexParallelArrays);
  EXPECT_EQ(Find()->indexes.size(), 1u);
}

TEST_F(IndexBuildTest, KilledBuildLeavesNothing) {
  Create();
  Fill(100);
  Operations::Handle operation = operations_.Start();
  Context context(*shared_, *operation);
  operations_.Kill(operation->id, Code::kInterrupted);
  const auto built =
      BuildIndexes(context, ns_, {*catalog::IndexSpec::Parse(J("{'key': {'a': 1}, 'name': 'a'}"), nullptr)});
  EXPECT_EQ(built.status().code(), Code::kInterrupted);
  EXPECT_EQ(Find()->indexes.size(), 1u);
}

// A writer that meets a duplicate while a unique index is being built goes on; the build fails.
TEST_F(IndexBuildTest, DuplicateOfAWriterFailsTheBuildOnly) {
  Create();
  const auto started = catalog_->StartIndexes(
      ns_, {*catalog::IndexSpec::Parse(J("{'key': {'u': 1}, 'name': 'u', 'unique': true}"), nullptr)});
  ASSERT_OK(started);
  ASSERT_OK(Insert("{'_id': 1, 'u': 1}"));
  ASSERT_OK(Insert("{'_id': 2, 'u': 1}"));
  const auto finished = catalog_->FinishIndexes(ns_, {started->collection->indexes[1]->number});
  EXPECT_EQ(finished.status().code(), Code::kDuplicateKey);
}

TEST_F(IndexBuildTest, WritersGoOnDuringBuilds) {
  Create();
  Fill(2000);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  const uint64_t seed = test::Seed();
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([this, &stop, seed, t] {
      Random random(seed + t);
      while (!stop) {
        const auto id = static_cast<int32_t>(random.Below(3000));
        const auto value = static_cast<int32_t>(random.Below(100));
        bson::Builder builder;
        builder.Append("_id", id).Append("u", id);
        if (random.Chance(1, 3)) {
          builder.OpenArray("a").AppendNext(value).AppendNext(value + 1).Close();
        } else {
          builder.Append("a", value);
        }
        const bson::Document document = builder.Finish();
        Status status = Insert(document.view());
        if (status.code() == Code::kDuplicateKey) status = Replace(document);
        if (status.code() == Code::kNamespaceNotFound) status = {};
        if (random.Chance(1, 4)) status = Remove(document.Find("_id"));
        EXPECT_OK(status);
      }
    });
  }
  for (int round = 0; round < 4; ++round) {
    EXPECT_OK(Build({"{'key': {'a': 1}, 'name': 'a'}", "{'key': {'u': 1}, 'name': 'u', 'unique': true}"}));
    if (round == 3) break;
    std::vector<uint32_t> numbers;
    const auto collection = Find();
    for (const auto& index : collection->indexes) numbers.push_back(index->number);
    EXPECT_OK(catalog_->RemoveIndexes(ns_, numbers));
  }
  stop = true;
  for (auto& writer : writers) writer.join();
  ASSERT_EQ(Find()->indexes.size(), 3u);
  ASSERT_OK(Check());
}

TEST_F(IndexBuildTest, DropsDuringWritesLeaveNothing) {
  std::atomic<bool> stop{false};
  ASSERT_OK(catalog_->Ensure(ns_));
  std::thread writer([this, &stop] {
    for (int32_t i = 0; !stop; ++i) {
      const auto collection = Find();
      if (collection == nullptr) {
        EXPECT_OK(catalog_->Ensure(ns_));
        continue;
      }
      Operations::Handle operation = operations_.Start();
      const auto gate = collection->state->gate.Share(*operation);
      if (Find() != collection) continue;
      Context context(*shared_, *operation);
      EXPECT_OK(txn::Insert(context, collection, bson::Make("_id", i)));
      EXPECT_OK(context.Commit());
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_OK(catalog_->Drop(ns_));
    std::this_thread::yield();
  }
  stop = true;
  writer.join();
  EXPECT_OK(catalog_->Drop(ns_));
  EXPECT_EQ(KeysIn({"", ""}), 3u);
}

TEST_F(IndexBuildTest, TtlSweepsWhatIsOver) {
  Create();
  ASSERT_OK(Build({"{'key': {'t': -1}, 'name': 't', 'expireAfterSeconds': 10}", "{'key': {'a': 1}, 'name': 'a'}"}));
  ASSERT_OK(Statement([this](Context& context, const auto& collection) -> Status {
    for (int32_t i = 0; i < 1200; ++i) {
      const bson::Date date{clock_.NowMillis() + (i % 2) * 60'000};
      BRAID_CHECK_OK(txn::Insert(context, collection, bson::Make("_id", i, "a", i, "t", date)));
    }
    return txn::Insert(context, collection, J("{'_id': 'never', 't': 5}"));
  }));
  TtlSweeper sweeper(*shared_);
  EXPECT_EQ(*sweeper.Sweep(), 0u);
  clock_.Advance(std::chrono::seconds(10));
  ASSERT_OK(sweeper.Sweep());  // or the thread was quicker
  EXPECT_EQ(sweeper.removed(), 600u);
  EXPECT_EQ(Find()->state->documents, 601);
  ASSERT_OK(Check());
  clock_.Advance(std::chrono::seconds(60));
  ASSERT_OK(sweeper.Sweep());
  EXPECT_EQ(Find()->state->documents, 1);
  EXPECT_GE(sweeper.passes(), 3u);
  ASSERT_OK(Check());
}

}  // namespace
}  // namespace braid::txn
