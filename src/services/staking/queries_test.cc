// Rankings in pages, and what is not known (A8).
#include "services/staking/queries.h"

#include <algorithm>

#include "services/staking/testing/fixture.h"

namespace braid::staking {
namespace {

using test::Active;
using test::KeyOf;
using test::Unbonded;

class QueriesTest : public test::StakingTest {
 protected:
  Page RankStakers(const Tables& tables, size_t limit, const std::string& after) {
    auto page = Rank(store_.clients(), tables, *tables.stakers, limit, after);
    EXPECT_OK(page);
    return page.ok() ? *std::move(page) : Page();
  }
  // Every page after the other, with `between` called before each but the first.
  std::vector<std::string> AllPages(const Tables& tables, size_t limit, const std::function<void()>& between) {
    std::vector<std::string> stakers;
    std::string after;
    do {
      if (!after.empty()) between();
      const Page page = RankStakers(tables, limit, after);
      EXPECT_LE(page.rows.size(), limit);
      EXPECT_TRUE(page.next.empty() || page.rows.size() == limit);
      for (const Ranked& row : page.rows) stakers.push_back(row.entity);
      after = page.next;
    } while (!after.empty());
    return stakers;
  }
};
INSTANTIATE_ON_STORES(QueriesTest);

TEST_P(QueriesTest, PagesOfAnySizeAreTheWholeRankingWithTies) {
  Random random(braid::test::Seed());
  std::vector<Event> events;
  for (uint64_t i = 0; i < 120; ++i) {
    events.push_back(Active(i, random.Below(30), 1, static_cast<int64_t>(1 + random.Below(3))));
  }
  for (uint64_t i = 0; i < 60; ++i) events.push_back(Unbonded(i));
  Ingest(events);
  std::vector<std::pair<int64_t, std::string>> expected;
  for (const auto& [staker, sums] : model_.Stakers()) expected.emplace_back(-sums[kActiveTvl], staker);
  std::ranges::sort(expected);
  const auto tables = OpenTables();
  for (const size_t limit : {1U, 2U, 7U, 29U, 30U, 1000U}) {
    const auto stakers = AllPages(*tables, limit, [] {});
    ASSERT_EQ(stakers.size(), expected.size()) << limit;
    for (size_t i = 0; i < stakers.size(); ++i) EXPECT_EQ(stakers[i], expected[i].second) << limit;
  }
}

// A staker that keeps its place is seen once, whatever changes around it.
TEST_P(QueriesTest, ChangesBetweenPagesNeitherRepeatNorSkipThoseWhoStay) {
  std::vector<Event> events;
  for (uint64_t i = 0; i < 40; ++i) events.push_back(Active(i, i, 1, static_cast<int64_t>(1000 * (i + 1))));
  Ingest(events);
  const auto tables = OpenTables();
  uint64_t step = 0;
  const auto stakers = AllPages(*tables, 6, [&] {
    // One of the first leaves, one of the last rises to the top, a new one comes in.
    ++step;
    Ingest({Unbonded(40 - step), Active(100 + step, step, 1, 1'000'000), Active(200 + step, 300 + step, 1, 500)});
  });
  for (uint64_t i = step + 1; i + step < 40; ++i) {
    EXPECT_EQ(std::ranges::count(stakers, KeyOf('b', i)), 1) << i << " after " << step << " changes";
  }
  EXPECT_GE(step, 6U);
}

TEST_P(QueriesTest, NothingIsKnown) {
  const auto tables = OpenTables();
  const auto overall = GetOverallStats(store_.clients(), *tables);
  ASSERT_OK(overall);
  EXPECT_EQ(overall->sums, CounterValues{});
  EXPECT_EQ(overall->pending_events, 0);
  EXPECT_TRUE(RankStakers(*tables, 10, "").rows.empty());
  EXPECT_TRUE(RankStakers(*tables, 10, "5:abc").rows.empty());
  Ingest({Active(1, 1, 1, 5)});
  for (const std::string& unknown : {KeyOf('b', 2), std::string("no such"), KeyOf('b', 1).substr(1)}) {
    EXPECT_EQ(GetStats(store_.clients(), *tables, *tables->stakers, unknown).value(), CounterValues{});
    EXPECT_EQ(GetStats(store_.clients(), *tables, *tables->providers, unknown).value(), CounterValues{});
  }
  EXPECT_EQ(GetStats(store_.clients(), *tables, *tables->stakers, KeyOf('b', 1)).value(),
            CounterValues({{kActiveTvl, 5}, {kTotalTvl, 5}, {kActiveDelegations, 1}, {kTotalDelegations, 1}}));
}

TEST_P(QueriesTest, MistakesAreNamed) {
  const auto tables = OpenTables();
  for (const char* after : {"x", "5", ":abc", "5x:abc", " 5:abc", "99999999999999999999:abc"}) {
    const auto page = Rank(store_.clients(), *tables, *tables->stakers, 10, after);
    EXPECT_EQ(page.status().code(), Code::kBadValue) << after;
    EXPECT_NE(page.status().message().find("`next`"), std::string_view::npos);
  }
  for (const size_t limit : {0U, 10'001U}) {
    EXPECT_EQ(Rank(store_.clients(), *tables, *tables->stakers, limit, "").status().code(), Code::kBadValue);
  }
}

TEST_P(QueriesTest, ShardsShowTheirOwnersAndAddUp) {
  IngestOptions options{.tables = TableOptions(), .workers = 3};
  const auto ingestor = Ingestor::Open(store_.clients(), options);
  ASSERT_OK(ingestor);
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < 50; ++i) lines.push_back(ToJson(Active(i, i, 1, 2)));
  ASSERT_OK((*ingestor)->Apply(std::vector<std::string_view>(lines.begin(), lines.end())));
  const auto shards = DescribeShards(store_.clients(), *OpenTables());
  ASSERT_OK(shards);
  ASSERT_EQ(shards->size(), 10U);
  int64_t sum = 0;
  int owned = 0;
  for (size_t i = 0; i < shards->size(); ++i) {
    EXPECT_EQ((*shards)[i].shard, StrCat(i));
    sum += (*shards)[i].sums[kActiveTvl];
    owned += !(*shards)[i].owner.empty() && (*shards)[i].owned_ms > 0;
  }
  EXPECT_EQ(sum, 100);
  EXPECT_EQ(owned, 3);
}

// The ranking is right whatever part of the changes it has been told, by any writer.
TEST_P(QueriesTest, TheRankingIsExactBetweenItsUpdates) {
  Random random(braid::test::Seed());
  uint64_t number = 0;
  for (int round = 0; round < 12; ++round) {
    std::vector<Event> events;
    for (uint64_t i = 0; i < 20; ++i) {
      if (number > 0 && random.Chance(1, 3)) {
        events.push_back(Unbonded(random.Below(number + 5)));  // some of them come first
      } else {
        events.push_back(Active(number, random.Below(25), random.Below(6), static_cast<int64_t>(1 + random.Below(4))));
        ++number;
      }
    }
    Ingest(events);
    if (random.Chance(1, 2)) {
      const auto ingestor = Ingestor::Open(store_.clients(), {.tables = TableOptions()});
      ASSERT_OK(ingestor);
      ASSERT_OK((*ingestor)->UpdateRankings());
    }
    const auto tables = Tables::OpenToRead(store_.clients(), TableOptions());
    ASSERT_OK(tables);
    ASSERT_TRUE((*tables)->stakers->ranked());
    std::vector<std::pair<int64_t, std::string>> expected;
    for (const auto& [staker, sums] : model_.Stakers()) expected.emplace_back(-sums[kActiveTvl], staker);
    std::ranges::sort(expected);
    for (const size_t limit : {1U, 4U, 100U}) {
      const auto stakers = AllPages(**tables, limit, [] {});
      ASSERT_EQ(stakers.size(), expected.size());
      for (size_t i = 0; i < stakers.size(); ++i) EXPECT_EQ(stakers[i], expected[i].second) << limit;
    }
    ExpectModel();
  }
}

// After an update nothing is left for readers to add.
TEST_P(QueriesTest, AnUpdateBringsInEverything) {
  Ingest({Active(1, 1, 1, 5), Active(2, 2, 1, 7)});
  Ingest({Active(3, 1, 2, 9), Unbonded(2)});
  const auto ingestor = Ingestor::Open(store_.clients(), {.tables = TableOptions()});
  ASSERT_OK(ingestor);
  ASSERT_OK((*ingestor)->UpdateRankings());
  const auto tables = OpenTables();
  for (Counters* set : {tables->stakers.get(), tables->providers.get()}) {
    ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()}, [&](Transaction& transaction) {
      return set->ForEach(transaction, [&](const Counters::Entity& entity) {
        EXPECT_FALSE(entity.unranked.has_value()) << entity.name;
        return Status();
      });
    }));
  }
}

// A store of a program that kept no ranking is read as a whole, until the first writer opens it.
TEST_P(QueriesTest, AStoreWithoutARanking) {
  Ingest({Active(1, 1, 1, 5), Active(2, 2, 1, 7), Active(3, 3, 2, 1), Unbonded(3)});
  for (const uint64_t staker : {1U, 2U, 3U}) {
    Delete("staker_ranking", KeyOf('b', staker));
    Change("staker_stats", KeyOf('b', staker) + ":0", R"({"$unset":{"ranked":1,"unranked":1}})");
  }
  Change("counter_sets", "staker_stats", R"({"$unset":{"ranking":1}})");
  const auto reader = Tables::OpenToRead(store_.clients(), TableOptions());
  ASSERT_OK(reader);
  EXPECT_FALSE((*reader)->stakers->ranked());
  const std::vector<std::string> expected = {KeyOf('b', 2), KeyOf('b', 1), KeyOf('b', 3)};
  EXPECT_EQ(AllPages(**reader, 2, [] {}), expected);
  const auto writer = OpenTables();
  EXPECT_TRUE(writer->stakers->ranked());
  EXPECT_EQ(AllPages(*writer, 2, [] {}), expected);
  Ingest({Active(4, 3, 2, 6)});
  ExpectModel();
}

}  // namespace
}  // namespace braid::staking
