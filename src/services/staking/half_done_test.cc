// States that a process of another make leaves when it is killed half-way: taken up again, by the same event or by a
// back-fill, with only what is missing (A4, A5).
#include "services/staking/delegation.h"
#include "services/staking/ingestor.h"
#include "services/staking/testing/fixture.h"

namespace braid::staking {
namespace {

using test::Active;
using test::Unbonded;

constexpr uint32_t kNothing = 0;
constexpr uint32_t kSome[] = {kNothing, kOverall, kFinalityProvider, kOverall | kFinalityProvider,
                              kOverall | kFinalityProvider | kStaker};

class HalfDoneTest : public test::StakingTest {
 protected:
  // Flags and counters of one event as far as its calculations were done, without the delegation. Such a process keeps
  // no lock of which nothing is done.
  void Leave(const Event& active, State state, uint32_t done) {
    if (done == kNothing) return;
    const auto tables = OpenTables();
    const std::vector<std::string> ids = {StrCat(active.hash, ":", NameOf(state))};
    const std::vector<uint32_t> masks = {done};
    ASSERT_OK(
        RunTransaction(store_.clients(), {.database = store_.database()}, [&](Transaction& transaction) -> Status {
          BRAID_CHECK_OK(tables->locks.Claim(transaction, ids, masks));
          const CounterValues by = Effect(Delegation::Of(active), state);
          const Counters::Increment provider{.entity = active.finality_provider, .by = by};
          const Counters::Increment staker{.entity = active.staker, .by = by};
          Counters::Increment overall{.by = by};
          if ((done & kFinalityProvider) != 0) BRAID_CHECK_OK(tables->providers->Add(transaction, 3, {&provider, 1}));
          if ((done & kStaker) != 0) {
            BRAID_TRY(overall.by[kTotalStakers], tables->stakers->AddCountingNew(transaction, 3, {&staker, 1}));
          }
          return (done & kOverall) != 0 ? tables->overall->Add(transaction, 3, {&overall, 1}) : Status();
        }));
  }
  void RunBackfill() {
    const std::atomic<bool> stop = false;
    std::atomic<uint64_t> done = 0;
    ASSERT_OK(Backfill(store_.clients(), *OpenTables(), stop, done));
  }
};
INSTANTIATE_ON_STORES(HalfDoneTest);

TEST_P(HalfDoneTest, AnActiveEventIsTakenUpAgain) {
  uint64_t number = 0;
  std::vector<Event> events = {Active(++number, 1, 1, 100)};
  Ingest(events);
  for (const uint32_t done : kSome) {
    for (const bool kept : {false, true}) {
      if (!kept && done == (kOverall | kFinalityProvider | kStaker)) continue;  // its delegation is always there
      ++number;
      const Event event = Active(number, number % 3, 1, static_cast<int64_t>(1000 * number));
      Leave(event, State::kActive, done);
      if (kept) PutDelegation(event, "active");
      const Outcome outcome = Ingest({event});
      EXPECT_EQ(outcome.accepted + outcome.duplicate, 1U);
      ExpectModel();
      events.push_back(event);
    }
  }
  EXPECT_EQ(Ingest(events).duplicate, events.size());
  ExpectModel();
}

TEST_P(HalfDoneTest, AnUnbondedEventIsTakenUpAgain) {
  uint64_t number = 0;
  for (const uint32_t done : kSome) {
    for (const char* state : {"active", "unbonded"}) {
      ++number;
      const Event event = Active(number, 1, number % 3, static_cast<int64_t>(1000 * number));
      Ingest({event});
      Leave(event, State::kUnbonded, done);
      Change(kDelegations, event.hash, StrCat(R"({"$set":{"state":")", state, R"("}})"));
      Ingest({Unbonded(number)});
      ExpectModel();
      EXPECT_EQ(Ingest({event, Unbonded(number)}).duplicate, 2U);
      ExpectModel();
    }
  }
}

// Both half done, in any combination, and the events come again in either order.
TEST_P(HalfDoneTest, BothAreTakenUpAgainInEitherOrder) {
  uint64_t number = 0;
  for (const uint32_t added : kSome) {
    for (const uint32_t taken : kSome) {
      if ((taken & ~added) != 0) continue;  // nothing takes away what it has not added
      for (const bool active_first : {false, true}) {
        ++number;
        const Event event = Active(number, number % 4, 1, static_cast<int64_t>(1000 * number));
        Leave(event, State::kActive, added);
        Leave(event, State::kUnbonded, taken);
        PutDelegation(event, taken == kNothing ? "active" : "unbonded");
        Ingest({active_first ? event : Unbonded(number)});
        Ingest({active_first ? Unbonded(number) : event});
      }
    }
  }
  ExpectModel();
}

TEST_P(HalfDoneTest, BackfillDoesWhatIsMissingOnce) {
  uint64_t number = 0;
  for (const uint32_t added : kSome) {
    if (added == kNothing) continue;  // not known in stats_lock: only the event itself tells
    for (const uint32_t taken : kSome) {
      if ((taken & ~added) != 0) continue;
      ++number;
      const Event event = Active(number, number % 4, number % 2, static_cast<int64_t>(1000 * number));
      Leave(event, State::kActive, added);
      Leave(event, State::kUnbonded, taken);
      PutDelegation(event, taken == kNothing ? "active" : "unbonded");
      model_.Add(event);
      if (taken != kNothing) model_.Add(Unbonded(number));
    }
  }
  EXPECT_FALSE(RunAudit().ok());
  RunBackfill();
  ExpectModel();
  RunBackfill();
  ExpectModel();
}

// What a program wrote that knows nothing of staker_stats (A4: "extensible by adding a field").
TEST_P(HalfDoneTest, ACalculationThatWasAddedLaterIsBackFilled) {
  for (uint64_t i = 0; i < 300; ++i) {
    const Event event = Active(i, i % 20, i % 3, static_cast<int64_t>(i + 1));
    const std::string lock = R"("overall_stats":true,"finality_provider":true})";
    PutDelegation(event, i % 5 == 0 ? "unbonded" : "active");
    Put("stats_lock", StrCat(R"({"_id":")", event.hash, R"(:active",)", lock));
    if (i % 5 == 0) Put("stats_lock", StrCat(R"({"_id":")", event.hash, R"(:unbonded",)", lock));
    model_.Add(event);
    if (i % 5 == 0) model_.Add(Unbonded(i));
  }
  const auto tables = OpenTables();
  ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()}, [&](Transaction& transaction) -> Status {
    CounterValues overall = model_.Overall();
    overall[kTotalStakers] = 0;
    BRAID_CHECK_OK(tables->overall->Correct(transaction, "", overall));
    for (const auto& [provider, sums] : model_.Providers()) {
      BRAID_CHECK_OK(tables->providers->Correct(transaction, provider, sums));
    }
    return {};
  }));
  RunBackfill();
  ExpectModel();
}

// A program of another make that counts a staker together with the totals, and was killed before the staker's own.
TEST_P(HalfDoneTest, AStakerThatWasCountedWithTheTotalsIsNotCountedAgain) {
  for (uint64_t number = 1; number <= 3; ++number) {
    const Event event = Active(number, number, 1, 500);
    Leave(event, State::kActive, number == 2 ? kOverall | kFinalityProvider : kOverall);
    Change("overall_stats", "3", R"({"$inc":{"total_stakers":1}})");
    if (number != 1) PutDelegation(event, "active");
  }
  Ingest({Active(1, 1, 1, 500), Active(100, 50, 1, 7)});
  Ingest({Active(2, 2, 1, 500), Active(101, 2, 1, 8)});
  model_.Add(Active(3, 3, 1, 500));
  RunBackfill();
  ExpectModel();
  Ingest({Active(102, 1, 1, 1), Active(103, 2, 1, 1), Active(104, 3, 1, 1)});
  ExpectModel();
}

// The other way round: the staker is done, in a shard of that program's choice, and the totals are not.
TEST_P(HalfDoneTest, AStakerThatIsKnownBeforeTheTotalsIsCountedOnce) {
  const Event event = Active(1, 1, 1, 500);
  Put("stats_lock", StrCat(R"({"_id":")", event.hash, R"(:active","staker_stats":true})"));
  Put("staker_stats", StrCat(R"({"_id":")", event.staker, R"(:3","active_tvl":500,"total_tvl":500,)",
                             R"("active_delegations":1,"total_delegations":1})"));
  Ingest({event});
  ExpectModel();
  Ingest({Active(2, 1, 1, 9)});
  ExpectModel();
}

TEST_P(HalfDoneTest, BackfillLeavesAwaitedKeysAlone) {
  Ingest({Unbonded(1), Active(2, 1, 1, 5)});
  RunBackfill();
  ExpectModel();
  Ingest({Active(1, 1, 1, 7)});
  ExpectModel();
}

TEST_P(HalfDoneTest, BackfillStopsWhenTold) {
  const Event event = Active(1, 1, 1, 5);
  Leave(event, State::kActive, kOverall);
  PutDelegation(event, "active");
  const std::atomic<bool> stop = true;
  std::atomic<uint64_t> done = 0;
  EXPECT_EQ(Backfill(store_.clients(), *OpenTables(), stop, done).status().code(), Code::kInterrupted);
}

}  // namespace
}  // namespace braid::staking
