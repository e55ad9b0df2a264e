// The audit finds and names every kind of damage, repairs what can be computed again, and is clean while others write.
#include "services/staking/audit.h"

#include <algorithm>
#include <thread>

#include "services/staking/testing/fixture.h"

namespace braid::staking {
namespace {

using test::Active;
using test::KeyOf;
using test::Unbonded;

class AuditTest : public test::StakingTest {
 protected:
  void SetUp() override {
    std::vector<Event> events = {Unbonded(1000)};
    for (uint64_t i = 0; i < 40; ++i) events.push_back(Active(i, i % 7, i % 3, static_cast<int64_t>(100 + i)));
    for (uint64_t i = 0; i < 40; i += 4) events.push_back(Unbonded(i));
    Ingest(events);
    ExpectModel();
  }

  struct Named {
    std::string where;
    std::string id;
    std::string field;
  };
  // The damage is found under this name; a repair makes everything right and the next audit clean; and what comes later
  // is counted as if nothing had been: events old and new, of stakers old and new.
  void ExpectFoundAndRepaired(const Named& named) {
    ExpectFound(named);
    const AuditReport repaired = RunAudit(true);
    EXPECT_FALSE(repaired.ok());
    EXPECT_GT(repaired.repaired, 0U);
    ExpectModel();
    Ingest({Active(1, 1, 1, 101), Unbonded(4), Unbonded(5), Active(500, 6, 2, 9), Active(501, 50, 50, 9)});
    ExpectModel();
  }
  void ExpectFound(const Named& named) {
    const AuditReport report = RunAudit();
    EXPECT_FALSE(report.ok());
    const auto is_it = [&](const Difference& one) {
      return one.where == named.where && one.id == named.id && one.field == named.field && one.expected != one.found;
    };
    EXPECT_EQ(std::ranges::count_if(report.differences, is_it), 1)
        << named.where << " " << named.id << " " << named.field << " in " << Describe(report);
    EXPECT_EQ(report.differences.size(), report.differences_total);
  }
};
INSTANTIATE_ON_STORES(AuditTest);

TEST_P(AuditTest, CountsWhatItSaw) {
  const AuditReport report = RunAudit();
  EXPECT_EQ(report.delegations, 40U);
  EXPECT_EQ(report.finality_providers, 3U);
  EXPECT_EQ(report.stakers, 7U);
  EXPECT_EQ(report.pending_events, 1U);
  EXPECT_EQ(report.locks, 40U + 10U + 1U);
  EXPECT_EQ(report.repaired, 0U);
}

TEST_P(AuditTest, AnOverallCounter) {
  for (const char* field : kFieldNames) {
    Change("overall_stats", "9", StrCat(R"({"$inc":{")", field, R"(":1}})"));
    ExpectFoundAndRepaired({"overall_stats", "", field});
  }
}

TEST_P(AuditTest, ACounterBeyondTheNumberOfShardsCountsForNothing) {
  Put("overall_stats", R"({"_id":"10","active_tvl":5})");
  EXPECT_TRUE(RunAudit().ok());
}

TEST_P(AuditTest, AProvidersCounter) {
  Change("finality_providers_stats", KeyOf('f', 1) + ":7", R"({"$inc":{"active_delegations":-1}})");
  ExpectFoundAndRepaired({"finality_providers_stats", KeyOf('f', 1), "active_delegations"});
}

TEST_P(AuditTest, AnExtraProvider) {
  Put("finality_providers_stats", StrCat(R"({"_id":")", KeyOf('f', 50), R"(:3","total_tvl":5})"));
  ExpectFoundAndRepaired({"finality_providers_stats", KeyOf('f', 50), "total_tvl"});
}

TEST_P(AuditTest, AStakersDocumentIsMissing) {
  Delete("staker_stats", KeyOf('b', 6) + ":0");
  ExpectFoundAndRepaired({"staker_stats", KeyOf('b', 6), "total_delegations"});
}

// An extra staker must not be taken for one that was counted, when he comes.
TEST_P(AuditTest, AnExtraStaker) {
  Put("staker_stats", StrCat(R"({"_id":")", KeyOf('b', 50), R"(:3","total_tvl":5})"));
  ExpectFoundAndRepaired({"staker_stats", KeyOf('b', 50), "total_tvl"});
}

TEST_P(AuditTest, AnExtraStakerWithNothing) {
  Put("staker_stats", StrCat(R"({"_id":")", KeyOf('b', 50), R"(:0","total_tvl":0})"));
  ExpectFoundAndRepaired({"staker_stats", KeyOf('b', 50), "_id"});
}

TEST_P(AuditTest, AStakerWhoseFirstDocumentWasMoved) {
  const std::string staker = KeyOf('b', 6);
  const CounterValues sums = model_.Stakers()[staker];
  for (const uint32_t shard : {0U, 1U}) Delete("staker_stats", StrCat(staker, ":", shard));
  Put("staker_stats", StrCat(R"({"_id":")", staker, R"(:9","active_tvl":)", sums[kActiveTvl], R"(,"total_tvl":)",
                             sums[kTotalTvl], R"(,"active_delegations":)", sums[kActiveDelegations],
                             R"(,"total_delegations":)", sums[kTotalDelegations], "}"));
  ExpectFoundAndRepaired({"staker_stats", staker + ":0", "_id"});
}

TEST_P(AuditTest, AFlagIsMissing) {
  Change("stats_lock", KeyOf('a', 1) + ":active", R"({"$unset":{"staker_stats":1}})");
  ExpectFoundAndRepaired({"stats_lock", KeyOf('a', 1) + ":active", "staker_stats"});
}

TEST_P(AuditTest, AFlagOfAnUnbondedEventIsMissing) {
  Change("stats_lock", KeyOf('a', 4) + ":unbonded", R"({"$set":{"overall_stats":false}})");
  ExpectFoundAndRepaired({"stats_lock", KeyOf('a', 4) + ":unbonded", "overall_stats"});
}

TEST_P(AuditTest, ALockIsMissing) {
  Delete("stats_lock", KeyOf('a', 1) + ":active");
  ExpectFoundAndRepaired({"stats_lock", KeyOf('a', 1) + ":active", "overall_stats"});
  Delete("stats_lock", KeyOf('a', 4) + ":unbonded");
  ExpectFoundAndRepaired({"stats_lock", KeyOf('a', 4) + ":unbonded", "overall_stats"});
}

// Flags without a delegation: the totals become what the delegations say, so the event must count when it comes again.
TEST_P(AuditTest, AnOrphanLock) {
  for (const uint64_t hash : {500U, 501U}) {
    Put("stats_lock", StrCat(R"({"_id":")", KeyOf('a', hash), R"(:active","overall_stats":true})"));
  }
  ExpectFoundAndRepaired({"stats_lock", KeyOf('a', 500) + ":active", "overall_stats"});
}

TEST_P(AuditTest, AnUnbondedLockOfAnActiveDelegation) {
  Put("stats_lock", StrCat(R"({"_id":")", KeyOf('a', 5), R"(:unbonded","finality_provider":true})"));
  ExpectFoundAndRepaired({"stats_lock", KeyOf('a', 5) + ":unbonded", "finality_provider"});
}

TEST_P(AuditTest, AStakerIsInTheWrongPlaceOfTheRanking) {
  Change("staker_ranking", KeyOf('b', 1), R"({"$inc":{"active_tvl":5}})");
  ExpectFoundAndRepaired({"staker_ranking", KeyOf('b', 1), "active_tvl"});
}

TEST_P(AuditTest, AFinalityProviderIsMissingInTheRanking) {
  const auto ingestor = Ingestor::Open(store_.clients(), {.tables = TableOptions()});
  ASSERT_OK(ingestor);
  ASSERT_OK((*ingestor)->UpdateRankings());
  Delete("finality_providers_ranking", KeyOf('f', 1));
  ExpectFoundAndRepaired({"finality_providers_ranking", KeyOf('f', 1), "active_tvl"});
}

TEST_P(AuditTest, TheRankingHasAStakerThatThereIsNot) {
  Put("staker_ranking", StrCat(R"({"_id":")", KeyOf('b', 77), R"(","active_tvl":5})"));
  ExpectFoundAndRepaired({"staker_ranking", KeyOf('b', 77), "_id"});
}

// Events are never changed by a repair; this one is found until somebody removes it.
TEST_P(AuditTest, APendingEventWhoseActiveHasCome) {
  Put("pending_events", StrCat(R"({"_id":")", KeyOf('a', 1), R"(","event_type":"unbonded"})"));
  ExpectFound({"pending_events", KeyOf('a', 1), "_id"});
  RunAudit(true);
  ExpectFound({"pending_events", KeyOf('a', 1), "_id"});
  Delete("pending_events", KeyOf('a', 1));
  ExpectModel();
}

TEST_P(AuditTest, ADelegationIsGone) {
  Delete("delegations", KeyOf('a', 1));
  ExpectFound({"stats_lock", KeyOf('a', 1) + ":active", "overall_stats"});
  ExpectFound({"overall_stats", "", "total_delegations"});
  RunAudit(true);
  EXPECT_TRUE(RunAudit().ok());
  Ingest({Active(1, 1, 1, 101)});
  ExpectModel();
}

// Totals that have wrapped, as an older program left them: an audit with 64 bits would agree with them.
TEST_P(AuditTest, TotalsThatHaveWrapped) {
  const std::string huge = StrCat(INT64_MAX);
  for (const char* hash : {"1", "2"}) {
    Put("delegations", StrCat(R"({"_id":")", std::string(63, '0') + hash, R"(","staker_pk_hex":")", KeyOf('b', 1),
                              R"(","finality_provider_pk_hex":")", KeyOf('f', 1), R"(","state":"active",)",
                              R"("staking_value":{"$numberLong":")", huge, R"("}})"));
    Put("stats_lock", StrCat(R"({"_id":")", std::string(63, '0') + hash,
                             R"(:active","overall_stats":true,"finality_provider":true,"staker_stats":true})"));
  }
  // 2 * INT64_MAX is -2 in 64 bits.
  const std::string by = R"({"$inc":{"active_tvl":-2,"total_tvl":-2,"active_delegations":2,"total_delegations":2}})";
  Change("overall_stats", "0", by);
  Change("finality_providers_stats", KeyOf('f', 1) + ":0", by);
  Change("staker_stats", KeyOf('b', 1) + ":0", by);
  ExpectFound({"overall_stats", "", "total_tvl"});
  ExpectFound({"staker_stats", KeyOf('b', 1), "active_tvl"});
  EXPECT_EQ(Audit(store_.clients(), *OpenTables(), true).status().code(), Code::kOverflow);
}

TEST_P(AuditTest, ARepairOfWhatIsRightChangesNothing) {
  const AuditReport report = RunAudit(true);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.repaired, 0U);
  ExpectModel();
}

TEST_P(AuditTest, MoreDifferencesThanAreKept) {
  std::vector<std::string> ids;
  for (uint64_t i = 0; i < 1100; ++i) ids.push_back(KeyOf('a', 5000 + i) + ":active");
  const Once other = *Once::Open({.database = store_.database(), .calculations = {"overall_stats"}});
  ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()},
                           [&](Transaction& transaction) { return other.Claim(transaction, ids).status(); }));
  const AuditReport report = RunAudit();
  EXPECT_EQ(report.differences_total, 1100U);
  EXPECT_EQ(report.differences.size(), 1000U);
  RunAudit(true);
  ExpectModel();
}

// One snapshot: an audit is clean at any moment of an ingestion, and a repair in the midst of it does no harm.
TEST_P(AuditTest, CleanWhileOthersIngest) {
  std::atomic<bool> stop = false;
  std::atomic<int> audits = 0;
  std::thread auditor([&] {
    while (!stop || audits < 5) {
      const AuditReport report = RunAudit(audits % 3 == 2);
      EXPECT_TRUE(report.ok()) << Describe(report);
      ++audits;
    }
  });
  for (uint64_t batch = 0; batch < 12; ++batch) {
    std::vector<Event> events;
    for (uint64_t i = 0; i < 60; ++i) events.push_back(Active(2000 + batch * 60 + i, i, i % 5, 7));
    for (uint64_t i = 0; i < 30; ++i) events.push_back(Unbonded(2000 + batch * 60 + 2 * i + 40));
    Ingest(events);
  }
  stop = true;
  auditor.join();
  ExpectModel();
}

}  // namespace
}  // namespace braid::staking
