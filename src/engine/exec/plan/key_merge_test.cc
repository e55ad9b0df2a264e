// Rows of several shards merged by the keys of an index, as queries get them: the same as by sort keys, and no document
// is read that is not given out.
#include "engine/exec/plan/gather.h"

#include <algorithm>

#include "base/random.h"
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/txn/testing_fixture.h"

namespace braid::query::plan {
namespace {

constexpr uint32_t kShards = 5;

/// A collection by {k: 1} with the indexes {g: 1, n: 1} and {tags: 1}: shard i has the keys from 10 i to 10 i + 9.
class KeyMergeTest : public txn::TxnTest {
 protected:
  void SetUp() override {
    TxnTest::SetUp();
    ASSERT_OK(catalog_->ChangeCluster([](catalog::Cluster* cluster) -> Status {
      while (cluster->shards.size() < kShards) {
        cluster->shards.push_back({.number = cluster->end, .name = StrCat("shard", cluster->end)});
        ++cluster->end;
      }
      return {};
    }));
    Create();
    ASSERT_OK(Build({"{'v': 2, 'key': {'k': 1}, 'name': 'k_1'}", "{'v': 2, 'key': {'g': 1, 'n': 1}, 'name': 'g_n'}",
                     "{'v': 2, 'key': {'tags': 1}, 'name': 'tags_1'}"}));
    ASSERT_OK(catalog_->Place(ns_, Find()->number, [](sharding::Placement* table, storage::WriteSet&) -> Status {
      BRAID_TRY(table->key, sharding::ShardKey::Parse(bson::J("{'k': 1}")));
      BRAID_CHECK_OK(sharding::SplitInitially({0}, 0, 0, table));
      for (uint32_t i = 1; i < kShards; ++i) {
        BRAID_CHECK_OK(table->Split(bson::Make("k", static_cast<int32_t>(10 * i))));
        table->chunks[i].shard = static_cast<storage::ShardNumber>(i);
      }
      return {};
    }));
  }

  void Fill(int count, int groups) {
    Random random(test::Seed());
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(Insert(bson::Make("_id", i, "k", static_cast<int>(random.Below(10 * kShards)), "g",
                                  static_cast<int>(random.Below(static_cast<uint64_t>(groups))), "n", (i * 7919) % 1000)
                           .view()));
    }
  }
  Query Ask(std::string_view filter, std::string_view sort, int64_t skip = 0, int64_t limit = 0) {
    Query query;
    query.environment = std::make_shared<Environment>();
    query.collection = Find();
    query.filter = Filter::Parse(bson::J(filter), query.environment).value();
    query.sort = SortPattern::Parse(bson::J(sort), nullptr).value();
    query.skip = skip;
    query.limit = limit;
    return query;
  }
  static std::vector<int> Ids(txn::Context& context, Plan& plan, size_t max = SIZE_MAX) {
    std::vector<int> ids;
    bson::View document;
    while (ids.size() < max) {
      const auto more = plan.Next(context, &document);
      EXPECT_OK(more);
      if (!more.value_or(false)) break;
      ids.push_back(document.Find("_id").AsInt32());
    }
    return ids;
  }
  std::vector<int> Ids(txn::Context& context, Query query) {
    return Ids(context, *Plan::Make(std::move(query)).value());
  }
  /// The same with each shard's rows sorted in memory, without the index.
  std::vector<int> Plainly(txn::Context& context, Query query) {
    query.hint = bson::J("{'$natural': 1}");
    return Ids(context, std::move(query));
  }
};

TEST_F(KeyMergeTest, OrderSkipAndLimitAreThoseOfASort) {
  Fill(900, 12);
  Random random(test::Seed());
  Workers workers(2);
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  for (int i = 0; i < 60; ++i) {
    shared_->workers = random.Chance(1, 2) ? &workers : nullptr;
    const int64_t skip = random.Chance(1, 2) ? 0 : static_cast<int64_t>(random.Below(40));
    const int64_t limit = random.Chance(1, 3) ? 0 : 1 + static_cast<int64_t>(random.Below(60));
    const std::string group = StrCat(random.Below(13));
    const char* direction = random.Chance(1, 2) ? "1" : "-1";
    const std::string filters[] = {StrCat("{'g': ", group, "}"), StrCat("{'g': ", group, ", 'n': {'$gte': 300}}"),
                                   StrCat("{'g': ", group, ", 'n': {'$in': [7, 919, 838, 500, 42]}}")};
    const std::string& filter = filters[random.Below(3)];
    const std::string sort = StrCat("{'n': ", direction, ", '_id': ", direction, "}");
    EXPECT_EQ(Ids(context, Ask(filter, sort, skip, limit)), Plainly(context, Ask(filter, sort, skip, limit)))
        << filter << sort << " " << skip << " " << limit;
  }
  // More than are merged by key.
  for (const char* sort : {"{'g': 1, 'n': 1, '_id': 1}", "{'g': -1, 'n': -1, '_id': -1}"}) {
    EXPECT_EQ(Ids(context, Ask("{}", sort)), Plainly(context, Ask("{}", sort)));
  }
  shared_->workers = nullptr;
}

TEST_F(KeyMergeTest, OnlyDocumentsThatAreGivenOutAreRead) {
  Fill(400, 4);
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  const auto plan = Plan::Make(Ask("{'g': 2}", "{'n': -1}", 2, 5)).value();
  EXPECT_EQ(Ids(context, *plan).size(), 5u);
  EXPECT_EQ(plan->figures().documents_examined, 7u);  // with the two that are skipped
  EXPECT_LE(plan->figures().keys_examined, 7u + kShards);
  EXPECT_EQ(plan->Report(true).size(), kShards);

  // A condition that the index does not decide needs the documents.
  const auto checked = Plan::Make(Ask("{'g': 2, 'x': null}", "{'n': -1}", 0, 5)).value();
  EXPECT_EQ(Ids(context, *checked).size(), 5u);
  EXPECT_GT(checked->figures().documents_examined, 5u);
}

TEST_F(KeyMergeTest, StagesKnowThatTheyAreAtTheEnd) {
  Fill(20, 1);
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  const auto plan = Plan::Make(Ask("{'g': 0}", "{'n': 1}")).value();
  EXPECT_EQ(Ids(context, *plan).size(), 20u);
  uint64_t returned = 0;
  for (const ShardReport& report : plan->Report(true)) {
    EXPECT_EQ(report.stages.Find("isEOF").AsInt32(), 1);
    EXPECT_EQ(report.stages.Find("nReturned").AsInt32(), static_cast<int>(report.figures.returned));
    returned += report.figures.returned;
  }
  EXPECT_EQ(returned, 20u);
}

TEST_F(KeyMergeTest, AStreamGoesOnInItsSnapshotInAnotherRequest) {
  Fill(300, 1);
  for (const size_t first : {1u, 4u, 130u}) {
    std::vector<int> ids;
    std::unique_ptr<Plan> plan = Plan::Make(Ask("{'g': 0}", "{'n': -1, '_id': -1}")).value();
    storage::Snapshot snapshot;
    std::vector<int> expected;
    {
      txn::Operations::Handle operation = operations_.Start();
      txn::Context context(*shared_, *operation);
      expected = Plainly(context, Ask("{'g': 0}", "{'n': -1, '_id': -1}"));
      ids = Ids(context, *plan, first);
      snapshot = context.TakeSnapshot();
    }
    const bson::Document late = bson::Make("_id", 10000 + static_cast<int>(first), "k", 3, "g", 0, "n", -5);
    ASSERT_OK(Insert(late.view()));
    ASSERT_OK(Remove(bson::Make("", expected.back()).Find("")));
    txn::Operations::Handle operation = operations_.Start();
    txn::Context context(*shared_, *operation);
    context.UseSnapshot(snapshot);
    const std::vector<int> rest = Ids(context, *plan);
    ids.insert(ids.end(), rest.begin(), rest.end());
    EXPECT_EQ(ids, expected) << first;
  }
}

TEST_F(KeyMergeTest, ATransactionSeesItsOwnChanges) {
  Fill(60, 6);
  const catalog::CollectionPtr collection = Find();
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation, txn::Context::Kind::kTransaction);
  context.FixSnapshot();
  for (int i = 0; i < 6; ++i) {
    ASSERT_OK(
        txn::Insert(context, collection, bson::Make("_id", 100 + i, "k", 8 * i, "g", i % 3, "n", 150 * i).view()));
    storage::Buffer before;
    const auto shard = txn::ReadForChange(context, *collection, bson::Make("", 9 * i).Find(""), &before);
    ASSERT_OK(shard);
    ASSERT_OK(txn::Remove(context, collection, **shard, bson::View(before.view())));
  }
  for (int group = 0; group < 6; ++group) {
    for (const char* sort : {"{'n': 1, '_id': 1}", "{'n': -1, '_id': -1}"}) {
      const std::string filter = StrCat("{'g': ", group, "}");
      EXPECT_EQ(Ids(context, Ask(filter, sort)), Plainly(context, Ask(filter, sort))) << filter << sort;
    }
  }
}

TEST_F(KeyMergeTest, ADocumentWithSeveralEntriesComesOnce) {
  for (int i = 0; i < 60; ++i) {
    ASSERT_OK(Insert(StrCat("{'_id': ", i, ", 'k': ", i % 50, ", 'tags': [", i, ", ", (i * 37) % 60, ", ", -i, "]}")));
  }
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  for (const char* sort : {"{'tags': 1}", "{'tags': -1}"}) {
    std::vector<int> ids = Ids(context, Ask("{}", sort));
    if (std::string_view(sort).find("-1") == std::string_view::npos) {
      EXPECT_EQ(ids, Plainly(context, Ask("{}", sort)));  // the smallest ones are all different
    }
    std::ranges::sort(ids);
    EXPECT_EQ(ids.size(), 60u);
    EXPECT_TRUE(std::ranges::adjacent_find(ids) == ids.end());
  }
}

TEST_F(KeyMergeTest, AKillEndsIt) {
  Fill(100, 1);
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  const auto plan = Plan::Make(Ask("{'g': 0}", "{'n': 1}")).value();
  EXPECT_EQ(Ids(context, *plan, 3).size(), 3u);
  operation->killed = static_cast<int>(Code::kInterrupted);
  bson::View document;
  const auto more = plan->Next(context, &document);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Code::kInterrupted);
}

}  // namespace
}  // namespace braid::query::plan
