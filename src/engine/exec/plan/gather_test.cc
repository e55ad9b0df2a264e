// Streams of several shards put together: every row once, in order, with skip and limit, by one thread or by many.
#include "engine/exec/plan/gather.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/txn/testing_fixture.h"

namespace braid::query::plan {
namespace {

class GatherTest : public txn::TxnTest {
 protected:
  /// A collection by {k: 1}: shard i has the keys from 10 i up to 10 (i + 1).
  void CreateOn(uint32_t shards) {
    ASSERT_OK(catalog_->ChangeCluster([shards](catalog::Cluster* cluster) -> Status {
      while (cluster->shards.size() < shards) {
        cluster->shards.push_back({.number = cluster->end, .name = StrCat("shard", cluster->end)});
        ++cluster->end;
      }
      return {};
    }));
    Create();
    ASSERT_OK(Build({"{'v': 2, 'key': {'k': 1}, 'name': 'k_1'}", "{'v': 2, 'key': {'n': 1}, 'name': 'n_1'}"}));
    ASSERT_OK(catalog_->Place(ns_, Find()->number, [shards](sharding::Placement* table, storage::WriteSet&) -> Status {
      BRAID_TRY(table->key, sharding::ShardKey::Parse(bson::J("{'k': 1}")));
      BRAID_CHECK_OK(sharding::SplitInitially({0}, 0, 0, table));
      for (uint32_t i = 1; i < shards; ++i) {
        BRAID_CHECK_OK(table->Split(bson::Make("k", static_cast<int32_t>(10 * i))));
        table->chunks[i].shard = static_cast<storage::ShardNumber>(i);
      }
      return {};
    }));
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
  Result<std::vector<bson::Document>> Read(Query query, int kill_after = -1) {
    txn::Operations::Handle operation = operations_.Start();
    txn::Context context(*shared_, *operation);
    BRAID_TRY(const auto plan, Plan::Make(std::move(query)));
    std::vector<bson::Document> documents;
    while (true) {
      if (static_cast<int>(documents.size()) == kill_after) operation->killed = static_cast<int>(Code::kInterrupted);
      bson::View document;
      BRAID_TRY(const bool more, plan->Next(context, &document));
      if (!more) return documents;
      EXPECT_EQ(plan->shard(), placement().ChunkOf(placement().key.KeyOf(document).value()).shard);
      documents.emplace_back(document);
    }
  }
  const sharding::Placement& placement() { return *Find()->placement; }
  std::vector<int> Ids(Query query) {
    const auto documents = Read(std::move(query));
    EXPECT_OK(documents);
    std::vector<int> ids;
    for (const bson::Document& document : documents.value_or({})) ids.push_back(document.Find("_id").AsInt32());
    return ids;
  }
  void Fill(int count, uint32_t shards, Random& random) {
    for (int i = 0; i < count; ++i) {
      const bson::Document document = bson::J(
          StrCat("{'_id': ", i, ", 'k': ", random.Below(uint64_t{10} * shards), ", 'n': ", Scalar(random), "}"));
      ASSERT_OK(Insert(document.view()));
      documents_.push_back(document);
    }
  }
  static std::string Scalar(Random& random) {
    constexpr const char* kOthers[] = {"null", "'a'", "'b'", "2.5", "{'$numberDecimal': '2'}", "true", "{'x': 1}"};
    return random.Chance(1, 3) ? kOthers[random.Below(std::size(kOthers))] : StrCat(random.Below(20));
  }
  /// What the documents are in this order, from the model.
  std::vector<int> Sorted(int direction, int64_t skip, int64_t limit) const {
    std::vector<bson::Document> sorted = documents_;
    std::ranges::sort(sorted, [direction](const bson::Document& a, const bson::Document& b) {
      const int order = bson::Compare(a.Find("n"), b.Find("n")) * direction;
      return order != 0 ? order < 0 : a.Find("_id").AsInt32() < b.Find("_id").AsInt32();
    });
    std::vector<int> ids;
    for (const bson::Document& document : sorted) ids.push_back(document.Find("_id").AsInt32());
    ids.erase(ids.begin(), ids.begin() + std::min<int64_t>(skip, static_cast<int64_t>(ids.size())));
    if (limit != 0 && limit < static_cast<int64_t>(ids.size())) ids.resize(static_cast<size_t>(limit));
    return ids;
  }

  std::vector<bson::Document> documents_;
};

TEST_F(GatherTest, SortedStreamsAreMergedInOrder) {
  Random random(test::Seed());
  CreateOn(5);
  Fill(600, 5, random);
  Workers workers(3);
  for (const bool parallel : {false, true}) {
    shared_->workers = parallel ? &workers : nullptr;
    for (int i = 0; i < 40; ++i) {
      const int64_t skip = random.Chance(1, 2) ? 0 : static_cast<int64_t>(random.Below(700));
      const int64_t limit = random.Chance(1, 2) ? 0 : 1 + static_cast<int64_t>(random.Below(300));
      EXPECT_EQ(Ids(Ask("{}", "{'n': 1, '_id': 1}", skip, limit)), Sorted(1, skip, limit)) << skip << " " << limit;
      EXPECT_EQ(Ids(Ask("{}", "{'n': -1, '_id': 1}", skip, limit)), Sorted(-1, skip, limit)) << skip << " " << limit;
    }
    EXPECT_EQ(Ids(Ask("{}", "{'n': 1, '_id': 1}", 1, INT64_MAX)), Sorted(1, 1, 0));
  }
}

TEST_F(GatherTest, UnsortedStreamsHaveEveryRowOnce) {
  Random random(test::Seed());
  CreateOn(4);
  Fill(3000, 4, random);  // more than the rows of one round
  Workers workers(2);
  for (const bool parallel : {false, true}) {
    shared_->workers = parallel ? &workers : nullptr;
    std::vector<int> ids = Ids(Ask("{}", "{}"));
    std::ranges::sort(ids);
    std::vector<int> expected(3000);
    for (int i = 0; i < 3000; ++i) expected[static_cast<size_t>(i)] = i;
    EXPECT_EQ(ids, expected);
    EXPECT_EQ(Ids(Ask("{}", "{}", 2990, 0)).size(), 10u);
    EXPECT_EQ(Ids(Ask("{}", "{}", 5, 20)).size(), 20u);
    EXPECT_EQ(Ids(Ask("{}", "{}", 5000, 20)).size(), 0u);
  }
}

TEST_F(GatherTest, EmptyShardsHoldUpNobody) {
  CreateOn(6);
  for (const int k : {5, 45, 7}) ASSERT_OK(Insert(bson::Make("_id", k, "k", k, "n", -k).view()));
  EXPECT_EQ(Ids(Ask("{}", "{'n': 1}")), (std::vector<int>{45, 7, 5}));
  EXPECT_EQ(Ids(Ask("{'n': {'$lt': -100}}", "{'n': 1}")), std::vector<int>{});
  std::vector<int> ids = Ids(Ask("{'k': {'$gte': 6}}", "{}"));
  std::ranges::sort(ids);
  EXPECT_EQ(ids, (std::vector<int>{7, 45}));
}

TEST_F(GatherTest, AnErrorOfOneShardIsTheStreams) {
  Random random(test::Seed());
  CreateOn(3);
  Fill(300, 3, random);
  // Only documents of the last shard divide by zero.
  const char* filter = "{'$expr': {'$gte': [{'$divide': [1, {'$subtract': [25, '$k']}]}, -100]}}";
  ASSERT_OK(Insert(bson::Make("_id", 1000, "k", 25, "n", 1).view()));
  Workers workers(2);
  for (const bool parallel : {false, true}) {
    shared_->workers = parallel ? &workers : nullptr;
    for (const char* sort : {"{}", "{'n': 1, '_id': 1}"}) {
      const auto documents = Read(Ask(filter, sort));
      ASSERT_FALSE(documents.ok()) << sort;
      EXPECT_NE(documents.error().code(), Code::kInterrupted);
    }
  }
}

TEST_F(GatherTest, AKillEndsTheStream) {
  Random random(test::Seed());
  CreateOn(3);
  Fill(3000, 3, random);
  for (const char* sort : {"{}", "{'n': 1}"}) {
    const auto documents = Read(Ask("{}", sort), 10);
    ASSERT_FALSE(documents.ok());
    EXPECT_EQ(documents.error().code(), Code::kInterrupted);
  }
}

TEST_F(GatherTest, FiguresAreThoseOfAllShards) {
  Random random(test::Seed());
  CreateOn(4);
  Fill(200, 4, random);
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  const auto plan = Plan::Make(Ask("{}", "{'n': 1, '_id': 1}", 20, 30));
  ASSERT_OK(plan);
  bson::View document;
  while ((*plan)->Next(context, &document).value()) {
  }
  EXPECT_EQ((*plan)->figures().returned, 30u);
  const auto reports = (*plan)->Report(true);
  ASSERT_EQ(reports.size(), 4u);
  uint64_t examined = 0;
  for (const ShardReport& report : reports) {
    examined += report.figures.documents_examined;
    EXPECT_LE(report.figures.returned, 50u);  // skip and limit together are enough of each
  }
  EXPECT_EQ(examined, (*plan)->figures().documents_examined);
}

// A filter that computes for long on another thread is interrupted and limited as on the request's own.
TEST_F(GatherTest, WhatWorkersComputeIsWorkOfTheRequest) {
  Workers workers(3);
  shared_->workers = &workers;
  txn::Operations::Handle operation = operations_.Start();
  txn::Context context(*shared_, *operation);
  std::vector<Status> before(8);
  RunPieces(context, before.size(), [&](size_t i) { before[i] = Work::Current().Check(); });
  for (const Status& status : before) EXPECT_OK(status);
  operation->killed = static_cast<int>(Code::kInterrupted);
  std::vector<Status> after(8);
  RunPieces(context, after.size(), [&](size_t i) { after[i] = Work::Current().Check(); });
  for (const Status& status : after) EXPECT_EQ(status.code(), Code::kInterrupted);
  shared_->workers = nullptr;
}

}  // namespace
}  // namespace braid::query::plan
